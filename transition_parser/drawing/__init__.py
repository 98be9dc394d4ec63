"""Floor 6 (see CONTRIBUTING.md): pictures of trees and AMRs."""

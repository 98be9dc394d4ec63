"""What changes AMRs after search: one module for each kind of edit, each with one function; `order` lists them."""

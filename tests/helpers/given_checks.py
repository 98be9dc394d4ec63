"""What of given facts does not hold in a parse, read off the finished graph alone."""

from transition_parser.graphs.amr import edge_of
from transition_parser.parsing.given import Given, GivenNode
from transition_parser.parsing.parses import AmrParse


def broken(given: Given, parse: AmrParse) -> list[str]:
    """The facts that the graph of a parse does not have."""
    graph, alignments = parse.graph, parse.alignments
    of_variable = {variable: _nodes(parse, fact) for variable, fact in given.nodes.items()}

    def ends(end) -> set[int]:
        if isinstance(end, str):
            return of_variable[end]
        return {node for node, words in enumerate(alignments) if any(end[0] <= word <= end[1] for word in words)}

    found = [str(given.nodes[variable]) for variable, nodes in of_variable.items() if not nodes]
    for edge in given.edges:
        pairs = ((source, target) for source in ends(edge.source) for target in ends(edge.target))
        if not any({(s, edge.role, t), tuple(edge_of(s, edge.role, t))} & {*map(tuple, graph.edges)} for s, t in pairs):
            found.append(str(edge))
    found += [f"no node of word {word}" for word in sorted(given.none) if any(word in words for words in alignments)]
    if given.top is not None and graph.top not in ends(given.top):
        found.append("the top")
    return found


def _nodes(parse: AmrParse, fact: GivenNode) -> set[int]:
    """The nodes that are the node of a fact."""
    graph, words = parse.graph, tuple(range(fact.span[0], fact.span[1] + 1))
    nodes = {i for i in range(len(graph)) if graph.labels[i] == fact.concept and parse.alignments[i] == words}
    return {node for node in nodes if (node in graph.constants) == fact.is_constant}

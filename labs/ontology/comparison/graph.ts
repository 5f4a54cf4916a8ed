/** A directed graph whose nodes and edges have kinds. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphNode {
  readonly kind: string;
  /** Unique among the nodes of its kind. */
  readonly name: string;
}

/** Ends are places in `nodes`. */
export interface GraphEdge {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

/** Builds a graph by names. A repeated edge is one edge. */
export class GraphBuilder {
  readonly #nodes: GraphNode[] = [];
  readonly #places: Map<string, number> = new Map();
  readonly #edges: Map<string, GraphEdge> = new Map();

  node(kind: string, name: string): GraphNode {
    const node = { kind, name };
    const key = keyOf(node);
    if (!this.#places.has(key)) {
      this.#places.set(key, this.#nodes.length);
      this.#nodes.push(node);
    }
    return node;
  }

  /** An edge to or from a node that the graph lacks is left out. */
  edge(kind: string, from: GraphNode, to: GraphNode): void {
    const [start, end] = [this.#places.get(keyOf(from)), this.#places.get(keyOf(to))];
    if (start === undefined || end === undefined) return;
    this.#edges.set(`${kind} ${start} ${end}`, { kind, from: start, to: end });
  }

  graph(): Graph {
    return { nodes: this.#nodes, edges: [...this.#edges.values()] };
  }
}

function keyOf({ kind, name }: GraphNode): string {
  return `${kind}\n${name}`;
}

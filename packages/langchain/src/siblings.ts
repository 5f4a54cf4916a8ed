/** The calls of one node: how many run, and the pauses that wait for them. */
interface Node {
  running: number;
  readonly waiting: (() => void)[];
}

const NODES = new WeakMap<object, Node>();

/** The concurrent calls of a node. One of them may pause the node. */
export class Siblings {
  readonly #node: Node;

  /** @param of - the notes of LangGraph about the node; its calls share them */
  constructor(of: object) {
    const node = NODES.get(of) ?? { running: 0, waiting: [] };
    NODES.set(of, node);
    this.#node = node;
  }

  /** Runs a call of the node. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    this.#node.running++;
    try {
      return await call();
    } finally {
      this.#left();
    }
  }

  /** Waits until every other call has ended or waits too: a pause ends the node for all. */
  async settled(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#node.waiting.push(resolve);
    this.#left();
    await promise;
    this.#node.running++;
  }

  #left(): void {
    this.#node.running--;
    if (this.#node.running === 0) for (const release of this.#node.waiting.splice(0)) release();
  }
}

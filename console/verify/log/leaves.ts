import type { Pause } from '../bundle/pause.ts';
import { sha256 } from '../bytes/hash.ts';
import { nodeHash } from './tree.ts';

const HASH_BYTES = 32;

/** The leaves of a growing tree. Its root is known at any size (RFC 9162, section 2.1). */
export class Leaves {
  #hashes = new Uint8Array(1_024 * HASH_BYTES);
  #size = 0;
  readonly #frontier = new Frontier();

  get size(): number {
    return this.#size;
  }

  append(leaf: Uint8Array): void {
    const at = this.#size * HASH_BYTES;
    if (at === this.#hashes.length) {
      const wider = new Uint8Array(2 * at);
      wider.set(this.#hashes);
      this.#hashes = wider;
    }
    this.#hashes.set(leaf, at);
    this.#size += 1;
    this.#frontier.append(leaf);
  }

  /** The root of all leaves. */
  root(): Uint8Array {
    return this.#frontier.root();
  }

  /** The root of the first leaves. `size`: not more than there are. */
  async rootAt(size: number, pause: Pause): Promise<Uint8Array> {
    if (size === this.#size) return this.root();
    const frontier = new Frontier();
    for (let n = 0; n < size; n++) {
      await pause();
      frontier.append(this.#hashes.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES));
    }
    return frontier.root();
  }
}

/** The full subtrees of a tree, from left to right. */
class Frontier {
  readonly #nodes: { readonly leaves: number; readonly hash: Uint8Array }[] = [];

  append(leaf: Uint8Array): void {
    let node = { leaves: 1, hash: leaf };
    for (let last = this.#nodes.at(-1); last?.leaves === node.leaves; last = this.#nodes.at(-1)) {
      this.#nodes.pop();
      node = { leaves: 2 * node.leaves, hash: nodeHash(last.hash, node.hash) };
    }
    this.#nodes.push(node);
  }

  root(): Uint8Array {
    const hashes = this.#nodes.map(({ hash }) => hash);
    return hashes.length === 0
      ? sha256(new Uint8Array())
      : hashes.reduceRight((right, left) => nodeHash(left, right));
  }
}

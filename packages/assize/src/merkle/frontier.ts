import { arg, checkArgument } from '#base';
import { MerkleError } from './errors.ts';
import { joined, nodeHash, requireHash } from './hash.ts';
import { countOf } from './size.ts';

/**
 * A full subtree: the `index`-th, from 0, of those with 2^`level` leaves. Level 0 is the leaves.
 */
export interface TreeNode {
  readonly level: number;
  readonly index: number;
  readonly hash: Uint8Array;
}

/** The integrator's state between two appends: at most 53 hashes. */
export interface FrontierState {
  readonly size: number;
  /**
   * The roots of the full subtrees of the tree, the largest first: one for each bit that is set in
   * `size`.
   */
  readonly hashes: readonly Uint8Array[];
}

/**
 * A log that grows at its end, by RFC 6962 section 2.1. It holds O(log n) hashes and no leaf. An
 * append costs two hashes on average.
 */
export class Frontier {
  #size: number;
  readonly #hashes: Uint8Array[];

  /**
   * The empty log, or the log of a state from `state()`.
   *
   * @throws MerkleError `bad_argument`; ArgumentError `bad_argument`
   */
  constructor(state: FrontierState = { size: 0, hashes: [] }) {
    checkArgument(arg.members({ hashes: arg.list(arg.any) }), state, 'state');
    this.#size = countOf(state.size, 'The size of the log');
    if (state.hashes.length !== subtreesIn(this.#size)) {
      const evidence = { size: this.#size, hashes: state.hashes.length };
      throw new MerkleError(
        'bad_argument',
        'The state has a wrong number of hashes for its size. Read the frontier again.',
        {
          evidence,
        },
      );
    }
    for (const hash of state.hashes) requireHash(hash, 'a hash of the state');
    this.#hashes = [...state.hashes];
  }

  /** Number of leaves. */
  get size(): number {
    return this.#size;
  }

  /**
   * Adds leaves, in order. Returns the subtrees that became full, each once. A store writes them to
   * have proofs in O(log n) reads. An error adds nothing.
   *
   * @throws MerkleError `bad_argument`; `bad_argument` when there were more than 2^53-1 leaves;
   * ArgumentError `bad_argument`
   */
  append(leafHashes: readonly Uint8Array[]): TreeNode[] {
    checkArgument(arg.list(arg.any), leafHashes, 'leafHashes');
    countOf(this.#size + leafHashes.length, 'The size of the log');
    for (const hash of leafHashes) requireHash(hash, 'the hash of a leaf');
    const full: TreeNode[] = [];
    for (const hash of leafHashes) this.#add(hash, full);
    return full;
  }

  /** MTH(D[n]) of RFC 6962 section 2.1, for the current leaves. */
  root(): Uint8Array {
    return joined(this.#hashes);
  }

  /**
   * The state to store. To undo appends that could not be stored, create a frontier from the
   * earlier state.
   */
  state(): FrontierState {
    return { size: this.#size, hashes: [...this.#hashes] };
  }

  #add(leaf: Uint8Array, full: TreeNode[]): void {
    let [level, index, hash] = [0, this.#size, leaf];
    full.push({ level, index, hash });
    // An odd index is a right child: its sibling is the last of the frontier.
    while (index % 2 === 1) {
      hash = nodeHash(this.#hashes.pop()!, hash);
      level += 1;
      index = (index - 1) / 2;
      full.push({ level, index, hash });
    }
    this.#hashes.push(hash);
    this.#size += 1;
  }
}

function subtreesIn(size: number): number {
  return size.toString(2).replaceAll('0', '').length;
}

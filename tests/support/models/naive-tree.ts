/** RFC 6962 section 2.1, literally, over lists of leaves, without the code under test. */
import { createHash } from 'node:crypto';

export function sha256(...parts: readonly (Uint8Array | string)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

/** The tree over D[0:n], every subtree of it computed once. */
export class NaiveTree {
  readonly #data: readonly string[];
  readonly #known = new Map<string, Buffer>();

  constructor(data: readonly string[]) {
    this.#data = data;
  }

  leaf(index: number): Buffer {
    return this.mth(index, index + 1);
  }

  /** MTH(D[start:end]). */
  mth(start: number, end: number): Buffer {
    const place = `${start}:${end}`;
    const known = this.#known.get(place) ?? this.#mth(start, end);
    this.#known.set(place, known);
    return known;
  }

  #mth(start: number, end: number): Buffer {
    if (end === start) return sha256();
    if (end - start === 1) return sha256(LEAF, this.#data[start]!);
    const k = Number(largestPowerBelow(BigInt(end - start)));
    return sha256(NODE, this.mth(start, start + k), this.mth(start + k, end));
  }

  /** PATH(m, D[start:end]), section 2.1.1. */
  path(m: number, end: number, start = 0): Buffer[] {
    const n = end - start;
    if (n === 1) return [];
    const k = Number(largestPowerBelow(BigInt(n)));
    return m < k
      ? [...this.path(m, start + k, start), this.mth(start + k, end)]
      : [...this.path(m - k, end, start + k), this.mth(start, start + k)];
  }

  /** PROOF(m, D[0:n]), section 2.1.2. */
  proof(m: number, n: number): Buffer[] {
    return this.#subproof(m, 0, n, true);
  }

  #subproof(m: number, start: number, end: number, whole: boolean): Buffer[] {
    const n = end - start;
    if (m === n) return whole ? [] : [this.mth(start, end)];
    const k = Number(largestPowerBelow(BigInt(n)));
    return m <= k
      ? [...this.#subproof(m, start, start + k, whole), this.mth(start + k, end)]
      : [...this.#subproof(m - k, start + k, end, false), this.mth(start, start + k)];
  }
}

/**
 * The tree of n equal leaves. Its subtrees differ by size alone, so it allows sizes that exceed any
 * memory.
 */
export class UniformTree {
  readonly #known = new Map<bigint, Buffer>([[0n, sha256()]]);

  constructor(data: string) {
    this.#known.set(1n, sha256(LEAF, data));
  }

  mth(n: bigint): Buffer {
    const known = this.#known.get(n);
    if (known !== undefined) return known;
    const k = largestPowerBelow(n);
    const hash = sha256(NODE, this.mth(k), this.mth(n - k));
    this.#known.set(n, hash);
    return hash;
  }

  path(m: bigint, n: bigint): Buffer[] {
    if (n === 1n) return [];
    const k = largestPowerBelow(n);
    return m < k
      ? [...this.path(m, k), this.mth(n - k)]
      : [...this.path(m - k, n - k), this.mth(k)];
  }

  proof(m: bigint, n: bigint, whole = true): Buffer[] {
    if (m === n) return whole ? [] : [this.mth(n)];
    const k = largestPowerBelow(n);
    return m <= k
      ? [...this.proof(m, k, whole), this.mth(n - k)]
      : [...this.proof(m - k, n - k, false), this.mth(k)];
  }
}

function largestPowerBelow(n: bigint): bigint {
  let k = 1n;
  while (k * 2n < n) k *= 2n;
  return k;
}

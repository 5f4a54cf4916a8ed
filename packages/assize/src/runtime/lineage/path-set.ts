import type { Hash } from '#ledger';

/** The affected entries that touched a path: the first by position, and the last. */
interface Touched {
  readonly first: number;
  readonly last: Hash;
}

/**
 * The paths of one trajectory that affected entries have written, in the order of the entries. Two
 * paths overlap if they are equal or one lies below the other.
 */
export class PathSet {
  readonly #written: Map<string, Touched> = new Map();
  /** Paths above written ones. */
  readonly #above: Map<string, Touched> = new Map();

  add(path: string, seq: number, id: Hash): void {
    touch(this.#written, path, seq, id);
    for (const above of pathsAbove(path)) touch(this.#above, above, seq, id);
  }

  /** The entries that last wrote an overlapping path. */
  overlaps(path: string): Hash[] {
    const found = [this.#above.get(path), this.#written.get(path)];
    for (const above of pathsAbove(path)) found.push(this.#written.get(above));
    return found.flatMap((touched) => (touched === undefined ? [] : [touched.last]));
  }

  /** The paths with a write at or before the position, for a branch that starts there. */
  upTo(seq: number): string[] {
    return [...this.#written].flatMap(([path, { first }]) => (first <= seq ? [path] : []));
  }
}

/** The paths above a JSON pointer: `/a/b` has `/a` and the whole document. */
function* pathsAbove(path: string): Generator<string> {
  for (let end = path.lastIndexOf('/'); end >= 0; end = path.lastIndexOf('/', end - 1)) {
    yield path.slice(0, end);
    if (end === 0) return;
  }
}

function touch(of: Map<string, Touched>, path: string, seq: number, id: Hash): void {
  of.set(path, { first: of.get(path)?.first ?? seq, last: id });
}

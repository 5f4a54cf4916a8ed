import type { SideChange, SidePage, SideRow } from 'assize/internal/ledger';
import { compareCodePoints } from 'assize/internal/stores/facts.ts';

/** The side log of a store in memory. */
export class MemorySide {
  readonly #kinds = new Map<string, Map<string, SideRow>>();
  #version = 0;

  get(kind: string, key: string): SideRow | undefined {
    return this.#kinds.get(kind)?.get(key);
  }

  list(kind: string, { after = '', limit }: SidePage): SideRow[] {
    const rows = [...(this.#kinds.get(kind)?.values() ?? [])].filter(
      ({ key }) => compareCodePoints(key, after) > 0,
    );
    return rows.sort((a, b) => compareCodePoints(a.key, b.key)).slice(0, limit);
  }

  put(changes: readonly SideChange[]): boolean {
    const isAsExpected = ({ kind, key, expected }: SideChange): boolean =>
      (this.get(kind, key)?.version ?? null) === expected;
    if (!changes.every(isAsExpected)) return false;
    for (const { kind, key, body } of changes) {
      const rows = this.#kinds.get(kind) ?? new Map<string, SideRow>();
      this.#kinds.set(kind, rows);
      if (body === null) rows.delete(key);
      else rows.set(key, Object.freeze({ kind, key, version: ++this.#version, body }));
    }
    return true;
  }
}

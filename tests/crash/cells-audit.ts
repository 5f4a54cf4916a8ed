import { expect } from 'vitest';
import { auditCells, type CellsFile, type RootLog } from '#cells';
import { compareWithHead, comparisonFault, integrateLog, type LogHead, logHead } from '#ledger';
import { verifyStore } from '#runtime';
import { openStore, type Store } from '#stores';
import { payloads } from '../support/ledger/desk.ts';
import type { Answered } from './cells-clients.ts';
import { TENANTS } from './cells-orders.ts';
import type { Outside } from './outside.ts';

/** The ledger's time may be ahead of this machine's by so much. A server is an hour ahead. */
const AHEAD_MAX_MS = 10 * 60_000;

/** Looks at a deployment as an auditor who kept the last head of the root log. */
export class Auditor {
  readonly #file: CellsFile;
  readonly #log: RootLog;
  readonly #outside: Outside;
  #kept: LogHead | undefined;

  constructor(file: CellsFile, log: RootLog, outside: Outside) {
    this.#file = file;
    this.#log = log;
    this.#outside = outside;
  }

  /**
   * Everything that was answered is in the tenant's present cell once, every store verifies, the
   * cells continue their checkpoints, and the root log continues the kept head.
   */
  async audit(answered: readonly Answered[]): Promise<void> {
    const root = this.#log.store;
    await integrateLog(root);
    if (this.#kept !== undefined) {
      const { size } = this.#kept;
      const fault = comparisonFault(await compareWithHead(root, this.#kept), {
        origin: 'the root log',
        size,
      });
      expect(fault).toBeUndefined();
    }
    this.#kept = await logHead(root);
    expect(faultsOf(await verifyStore(root))).toEqual([]);
    const audits = await auditCells(this.#file, this.#log);
    expect(audits.map(({ cell, fault }) => [cell, fault])).toEqual(
      this.#file.cells.map(({ name }) => [name, undefined]),
    );
    await this.inStores(async (stores, cellOf) => {
      for (const store of stores.values()) expect(faultsOf(await verifyStore(store))).toEqual([]);
      for (const tenant of TENANTS) {
        const own = answered.filter(({ order }) => order.tenant === tenant);
        await expectAnsweredOnce(stores.get(cellOf(tenant))!, tenant, own);
      }
    });
    this.#expectEffectsOnce();
  }

  /** The effects of the committed orders, each once, and no others. */
  async expectAllEffects(answered: readonly Answered[]): Promise<void> {
    for (const [kind, sink] of [
      ['pay', this.#outside.sinks.keyed],
      ['book', this.#outside.sinks.queryable],
    ] as const) {
      const wanted = answered
        .filter(({ order }) => order.kind === kind)
        .map(({ order }) => order.key);
      const done = () => sink.log.filter(({ did }) => did === 'do').map(({ what }) => what);
      await expect
        .poll(() => done().length, { timeout: 60_000 })
        .toBeGreaterThanOrEqual(wanted.length);
      expect(done().toSorted()).toEqual(wanted.toSorted());
    }
    this.#expectEffectsOnce();
  }

  /** Opens the stores of all cells for reading, at their primaries. */
  async inStores(
    work: (stores: ReadonlyMap<string, Store>, cellOf: (tenant: string) => string) => Promise<void>,
  ): Promise<void> {
    const { tenants } = await this.#log.read();
    const stores = new Map<string, Store>();
    try {
      for (const { name, store } of this.#file.cells)
        stores.set(
          name,
          await openStore(`${store}&target_session_attrs=primary`, { mode: 'readonly' }),
        );
      await work(stores, (tenant) => tenants[tenant]!.cell);
    } finally {
      for (const store of stores.values()) await store.close();
    }
  }

  #expectEffectsOnce(): void {
    for (const { log } of [this.#outside.sinks.keyed, this.#outside.sinks.queryable]) {
      const done = log.filter(({ did }) => did === 'do').map(({ what }) => what);
      expect(done.filter((what, n) => done.indexOf(what) !== n)).toEqual([]);
      expect(log.filter(({ did }) => did === 'undo')).toEqual([]);
    }
  }
}

/** Each answered entry is in the ledger, and each key has one ruling there. */
async function expectAnsweredOnce(
  store: Store,
  tenant: string,
  answered: readonly Answered[],
): Promise<void> {
  const ids = new Map<string, string>();
  const rows = await store.entries(tenant, { limit: 1_000_000 });
  const all = await payloads(store, tenant);
  for (const [n, row] of rows.entries()) {
    const { key_hash } = all[n] as { readonly key_hash?: string };
    if (key_hash !== undefined) ids.set(row.id, key_hash);
  }
  expect(new Set(ids.values()).size, `rulings of ${tenant}`).toBe(ids.size);
  expect(answered.filter(({ entry }) => !ids.has(entry))).toEqual([]);
  expect(new Set(answered.map(({ entry }) => entry)).size, `answers of ${tenant}`).toBe(
    answered.length,
  );
  const latest = Date.parse(all.at(-1)!.at);
  expect(latest - Date.now(), `time of ${tenant}`).toBeLessThan(AHEAD_MAX_MS);
}

function faultsOf(reports: readonly { readonly fault?: unknown }[]): readonly unknown[] {
  return reports.flatMap(({ fault }) => fault ?? []);
}

/**
 * The cost of a seal and of the ruling's document: proposals and verification of a sealed store,
 * beside the same in a store without seals, in alternation.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type Ruling, type Store, verifyStore } from 'assize';
import { rulingView } from '#views';
import { type BenchResult, compare, formatTable, keep, rateResult } from './measure.ts';
import { onPostgres } from './on-postgres.ts';
import { openShop, visit } from './shop.ts';

const MEMBERS = 1_000;
const ENTRIES = 50_000;
const PROPOSAL_GOAL = { ratioMin: 0.9 };
const VERIFY_GOAL = { ratioMin: 0.85 };

export async function sealsBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  try {
    return [
      ...(await resultsOn('SQLite', (name) => `sqlite:${join(folder, name)}`)),
      ...(await onPostgres((url) => resultsOn('PostgreSQL', (name) => `${url}?schema=${name}`))),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function resultsOn(
  database: string,
  urlOf: (name: string) => string,
): Promise<BenchResult[]> {
  const rootKeys = [randomBytes(32).toString('hex')];
  const sealed = await Shop.open(await openStore(urlOf('sealed'), { rootKeys }));
  const plain = await Shop.open(await openStore(urlOf('plain')));
  const results: BenchResult[] = [];
  for (const callers of [1, 64]) {
    const [own, bare] = await compare(
      [
        {
          name: `${database}: sealed proposals, ${callers} concurrent`,
          run: async (count) => void (await sealed.propose(count, callers)),
        },
        { name: 'without seals', run: async (count) => void (await plain.propose(count, callers)) },
      ],
      { roundMs: 250 },
    );
    results.push(rateResult(own!, bare, PROPOSAL_GOAL));
  }
  const [ruling] = await sealed.propose(1, 1);
  for (const shop of [sealed, plain]) await shop.fillTo(ENTRIES);
  const [own, bare] = await compare(
    [
      {
        name: `${database}: verify ${ENTRIES.toLocaleString('en-US')} sealed entries`,
        run: () => sealed.verify(),
      },
      { name: 'without seals', run: () => plain.verify() },
    ],
    { rounds: 5 },
  );
  results.push(rateResult(own!, bare, VERIFY_GOAL));
  const [document, proposal] = await compare([
    { name: `${database}: a ruling as its document`, run: (count) => renderTimes(ruling!, count) },
    { name: 'sealed proposals', run: async (count) => void (await sealed.propose(count, 64)) },
  ]);
  results.push(rateResult(document!, proposal));
  await sealed.close();
  await plain.close();
  return results;
}

function renderTimes(ruling: Ruling, count: number): void {
  for (let i = 0; i < count; i++) keep(rulingView(ruling));
}

class Shop {
  readonly #store: Store;
  readonly #shop: Awaited<ReturnType<typeof openShop>>;
  #proposed = 0;

  private constructor(store: Store, shop: Awaited<ReturnType<typeof openShop>>) {
    this.#store = store;
    this.#shop = shop;
  }

  static async open(store: Store): Promise<Shop> {
    return new Shop(store, await openShop(store, MEMBERS));
  }

  /** The rulings of that many proposals. */
  async propose(count: number, callers: number): Promise<Ruling[]> {
    const { trajectory, writ } = this.#shop;
    const rulings: Ruling[] = [];
    let left = count;
    const caller = async (): Promise<void> => {
      while (left-- > 0) {
        const ruling = await trajectory.propose({ ...visit(this.#proposed++, MEMBERS), writ });
        if (ruling.ruling !== 'committed') throw new Error(`unexpected: ${ruling.ruling}`);
        rulings.push(ruling);
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return rulings;
  }

  /** Proposes until the trajectory has that many entries. */
  async fillTo(entries: number): Promise<void> {
    await this.propose(Math.max(0, entries - this.#shop.trajectory.length), 256);
  }

  async verify(): Promise<void> {
    const [report] = await verifyStore(this.#store, { threads: 1 });
    if (report?.valid !== true) throw new Error('the ledger must verify');
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

if (import.meta.main) console.log(formatTable(await sealsBench()));

import type { FactWrite } from '#ledger';
import { checkFactWrites, checkPages } from './input.ts';

/** Rows of one transaction, but for a change that has more. */
const ROWS_MAX = 1_000;

/** What a store does to make its facts anew, each in a transaction of its own. All but the first throw where another has begun. */
export interface RebuildSteps<Run> {
  /** Facts are incomplete from then on. What it answers names this rebuilding. */
  begin(): Promise<Run>;
  /** Deletes some facts; false where there was nothing left. */
  deleteSome(run: Run): Promise<boolean>;
  takeIn(writes: readonly FactWrite[], run: Run): Promise<void>;
  end(run: Run): Promise<void>;
}

/** As `FactStore.rebuildFacts`: small transactions, between which others write what is no fact. @throws what steps and pages throw */
export async function rebuild<Run>(
  pages: AsyncIterable<readonly FactWrite[]>,
  steps: RebuildSteps<Run>,
): Promise<void> {
  checkPages(pages);
  const run = await steps.begin();
  while (await steps.deleteSome(run));
  for await (const page of pages) {
    checkFactWrites(page);
    for (const part of partsOf(page)) await steps.takeIn(part, run);
  }
  await steps.end(run);
}

function* partsOf(page: readonly FactWrite[]): Generator<readonly FactWrite[]> {
  let part: FactWrite[] = [];
  let rows = 0;
  for (const write of page) {
    part.push(write);
    rows += 1 + write.close.length + write.insert.length;
    if (rows < ROWS_MAX) continue;
    yield part;
    part = [];
    rows = 0;
  }
  if (part.length > 0) yield part;
}

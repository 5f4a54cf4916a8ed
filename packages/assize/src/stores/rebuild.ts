import { arg } from '#base';
import type { FactWrite } from '#ledger';
import { checkInput } from './check-input.ts';
import { FACT_WRITES } from './fact-input.ts';

const PAGES = arg.of(
  'an async iterable',
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    typeof (value as AsyncIterable<unknown>)[Symbol.asyncIterator] === 'function',
);

/** The maximum number of rows in one transaction, except for a single larger change. */
const ROWS_MAX = 1_000;

/**
 * The steps that rebuild the facts of a store, each in its own transaction. Every step except
 * `begin` throws if another rebuild has started.
 */
export interface RebuildSteps<Run> {
  /** Marks the facts as incomplete. Returns the identity of this rebuild. */
  begin(): Promise<Run>;
  /** Deletes some facts. Returns false if no facts were left. */
  deleteSome(run: Run): Promise<boolean>;
  takeIn(writes: readonly FactWrite[], run: Run): Promise<void>;
  end(run: Run): Promise<void>;
}

/**
 * Same as `FactStore.rebuildFacts`. Other writers can write non-fact rows between the small
 * transactions.
 * @throws the errors of the steps and of the pages
 */
export async function rebuild<Run>(
  pages: AsyncIterable<readonly FactWrite[]>,
  steps: RebuildSteps<Run>,
): Promise<void> {
  checkInput(PAGES, pages, 'pages');
  const run = await steps.begin();
  while (await steps.deleteSome(run));
  for await (const page of pages) {
    checkInput(FACT_WRITES, page, 'facts');
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

/**
 * A server of the tour as a process of its own, because the tour kills it during a payment. Each
 * message of the parent sets its clock, and is answered with its address.
 */

import { type Serving, serve } from '@assize/server/internal';
import { parseRuleTable, ruleTable } from 'assize/internal/authority';
import { addMicros, type Instant } from 'assize/internal/canon';
import { rootKeyOf } from 'assize/internal/config';
import { openStore, sealKeys } from 'assize/internal/stores';
import type { BankAddress } from './bank.ts';
import { tourConfig } from './tour-config.ts';

export interface ClockMessage {
  /** The clock of the server goes on from here. */
  readonly at: Instant;
  readonly bank: BankAddress;
}

let set: { readonly at: Instant; readonly ms: number };
let started: Promise<Serving> | undefined;

const clock = {
  now: () => addMicros(set.at, Math.floor((performance.now() - set.ms) * 1_000)),
};

process.once('disconnect', () => process.exit());
process.on('message', async ({ at, bank }: ClockMessage) => {
  set = { at, ms: performance.now() };
  started ??= start(bank);
  process.send?.({ url: (await started).url });
});

async function start(bank: BankAddress): Promise<Serving> {
  const config = tourConfig(bank, { port: 0 });
  const root = rootKeyOf(config.store, {});
  return serve({
    config,
    store: await openStore(config.store, sealKeys(root)),
    root,
    domains: config.domains,
    policyOf: (rules) => ruleTable(parseRuleTable(rules)),
    log: () => undefined,
    clock,
  });
}

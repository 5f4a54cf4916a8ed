/**
 * A server of the tour as a process of its own, because the tour kills it during a payment. The
 * parent sends the address of the bank, and gets the address of the server.
 */

import { serve } from '@assize/server/internal';
import { parseRuleTable, ruleTable } from 'assize/internal/authority';
import { rootKeyOf } from 'assize/internal/config';
import { openStore, sealKeys } from 'assize/internal/stores';
import type { BankAddress } from './bank.ts';
import { tourConfig } from './tour-config.ts';

process.once('disconnect', () => process.exit());
process.once('message', async (bank: BankAddress) => {
  const config = tourConfig(bank, { port: 0 });
  const root = rootKeyOf(config.store, {});
  const { url } = await serve({
    config,
    store: await openStore(config.store, sealKeys(root)),
    root,
    domains: config.domains,
    policyOf: (rules) => ruleTable(parseRuleTable(rules)),
    log: () => undefined,
  });
  process.send?.({ url });
});

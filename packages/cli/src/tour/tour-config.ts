import { incident } from '@assize/audit/internal/incident-domain';
import { defineConfig, type ResolvedConfig, resolveConfig } from 'assize/internal/config';
import { udt } from '../domains/udt/index.ts';
import { type BankAddress, bankAt } from './bank.ts';
import { bills } from './bills.ts';
import { bankTransfer, expenses } from './expenses.ts';
import { PAYEES } from './receipts.ts';
import { UDT_WORLD } from './scenes.ts';
import { TOUR_STORE } from './tour-files.ts';
import { tourSimulation } from './tour-simulation.ts';

export const EXPENSES_WORLD = 'expenses';
/** The calls of the agent behind a rules file. */
export const BILLS_WORLD = 'bills';
/** The space of the memory in which the agent keeps what it read. */
export const EXPENSES_SPACE = 'payees';
/** The principals with a token. Each key is in the name of its token file. */
export const PEOPLE = {
  agent: 'agent:clerk',
  manager: 'manager:grace',
  auditor: 'auditor:iris',
} as const;

/** The configuration of the tour's server, as an `assize.config.ts` has it. */
export function tourConfig(
  bank: BankAddress,
  { host, port }: { readonly host?: string | undefined; readonly port?: number | undefined },
): ResolvedConfig {
  const config = defineConfig({
    store: TOUR_STORE,
    domains: [expenses, udt, bills, incident],
    tools: [bankTransfer(bankAt(bank))],
    worlds: {
      [EXPENSES_WORLD]: {
        domain: expenses.name,
        initial: { payees: PAYEES, receipts: {}, paid: {} },
        note: 'receipts, and a bank',
      },
      [BILLS_WORLD]: { domain: bills.name },
    },
    simulations: { clerks: tourSimulation(PEOPLE.manager) },
    principals: {
      [PEOPLE.agent]: {
        kinds: ['agent'],
        grants: [
          {
            trajectories: [EXPENSES_WORLD],
            actions: ['file', 'pay', 'bank.transfer', 'assize.believe'],
            scopes: ['role:Clerk:**', 'bank:**', `memory:${EXPENSES_SPACE}:**`],
          },
          {
            trajectories: [BILLS_WORLD],
            actions: ['call', 'begin', 'report', 'session'],
            scopes: ['role:agent:clerk', 'tool:**'],
          },
        ],
      },
      [PEOPLE.manager]: { kinds: ['counselor'] },
      [PEOPLE.auditor]: { kinds: ['auditor', 'admin'] },
      'md:okafor': { kinds: ['counselor'] },
      'coordinator:noor': { kinds: ['counselor'] },
    },
    server: { ...(host !== undefined && { host }), ...(port !== undefined && { port }) },
  });
  return resolveConfig(config, { folder: process.cwd(), env: {} });
}

/** The worlds of the tour in the order of its text. */
export const WORLDS = [EXPENSES_WORLD, BILLS_WORLD, UDT_WORLD] as const;

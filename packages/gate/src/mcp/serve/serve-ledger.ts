import { randomBytes } from 'node:crypto';
import type { Transport } from '@modelcontextprotocol/server';
import { overPipes } from '../ends/over-pipes.ts';
import { loadServer } from '../peers.ts';
import { KeptResults } from '../results.ts';
import type { Decision } from './decision.ts';
import type { LedgerApi } from './ledger-api.ts';
import { DECISION_SECONDS, ledgerServer } from './ledger-server.ts';
import type { ServedOperation } from './operation-tool.ts';
import { requirePerson } from './person.ts';
import type { KeptAnswers } from './shown-answer.ts';

export interface ServeLedgerOptions {
  /** The table of the HTTP API. */
  readonly operations: readonly ServedOperation[];
  readonly api: LedgerApi;
  readonly version: string;
  /** Whether the person of the token may decide at the client. */
  readonly decides: boolean;
  /** Default: the pipes of this process. */
  readonly transport?: Transport | undefined;
  readonly onWarning: (text: string) => void;
}

/**
 * Serves the ledger to one client over the pipes of this process. Resolves when the client leaves
 * or the signal ends.
 *
 * @throws McpError `missing_package`; with `decides` also `forbidden`, `server_refused`
 */
export async function serveLedger(options: ServeLedgerOptions, ends: AbortSignal): Promise<void> {
  const { operations, api, version, decides, transport, onWarning } = options;
  const { createRequestStateCodec } = await loadServer();
  if (decides) await requirePerson(api);
  const kept: KeptAnswers = new KeptResults();
  const codec = createRequestStateCodec<Decision>({
    key: randomBytes(32),
    ttlSeconds: DECISION_SECONDS,
  });
  const make = () =>
    ledgerServer({ operations, api, kept, version, deciding: decides ? codec : undefined });
  await overPipes({ make, transport, onWarning }, ends);
}

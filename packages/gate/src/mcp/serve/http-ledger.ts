import { loadServer } from '../peers.ts';
import { KeptResults } from '../results.ts';
import { LedgerApi, type LedgerAsk } from './ledger-api.ts';
import { ledgerServer } from './ledger-server.ts';
import type { ServedOperation } from './operation-tool.ts';
import type { KeptAnswers } from './shown-answer.ts';

export interface HttpLedgerOptions {
  /** The table of the HTTP API. */
  readonly operations: readonly ServedOperation[];
  /** The address of the server, and of its console. */
  readonly url: string;
  readonly version: string;
  readonly maxBodyBytes: number;
  readonly onWarning: (text: string) => void;
}

/** The principal of one request. `ask` asks the API with the token of that request. */
export interface LedgerPrincipal {
  readonly name: string;
  readonly ask: LedgerAsk;
}

/** The ledger for HTTP clients of both eras. It decides nothing. */
export interface HttpLedger {
  fetch(request: Request, principal: LedgerPrincipal): Promise<Response>;
  close(): Promise<void>;
}

/** How many principals have long answers kept. */
const KEPT_PRINCIPALS_MAX = 100;
/** The characters of the long answers of one principal, and how long one is kept. */
const KEPT_CHARACTERS_MAX = 4 * 1024 * 1024;
const KEPT_MS = 600_000;

/** @throws McpError `missing_package` */
export async function httpLedger(options: HttpLedgerOptions): Promise<HttpLedger> {
  const { operations, url, version, maxBodyBytes, onWarning } = options;
  const { createMcpHandler } = await loadServer();
  const answers = new Map<string, KeptAnswers>();
  const handler = createMcpHandler(
    async ({ authInfo }) => {
      const { principal } = (authInfo?.extra ?? {}) as { readonly principal?: LedgerPrincipal };
      if (principal === undefined) throw new Error('the request has no principal');
      const api = new LedgerApi({ ask: principal.ask, url });
      return ledgerServer({ operations, api, kept: keptOf(answers, principal.name), version });
    },
    { maxRequestBodySize: maxBodyBytes, onerror: (error) => onWarning(error.message) },
  );
  return {
    fetch: (request, principal) =>
      handler.fetch(request, {
        authInfo: { token: '', clientId: principal.name, scopes: [], extra: { principal } },
      }),
    close: () => handler.close(),
  };
}

/** The long answers of a principal. Those of the principal that asked first are dropped first. */
function keptOf(answers: Map<string, KeptAnswers>, name: string): KeptAnswers {
  const kept = answers.get(name) ?? new KeptResults({ most: KEPT_CHARACTERS_MAX, ms: KEPT_MS });
  answers.set(name, kept);
  const [first] = answers.keys();
  if (answers.size > KEPT_PRINCIPALS_MAX && first !== undefined) answers.delete(first);
  return kept;
}

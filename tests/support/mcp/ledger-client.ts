/** A client of the ledger of a test server, over pipes in memory. */
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { LedgerApi, type LedgerAsk, serveLedger } from '#mcp';
import { OPERATIONS } from '#server';
import type { PrincipalName, TestServer } from '../server/serving.ts';

export type Era = 'legacy' | 'modern';

export interface LedgerConnecting {
  readonly as: PrincipalName;
  readonly decides?: boolean;
  readonly era?: Era;
  /** The answers of the person at the client. Absent: the client cannot ask. */
  readonly person?: (question: string) => Promise<unknown> | unknown;
  /** Whether the client leaves the questions to the test. */
  readonly keepsQuestions?: boolean;
  /** Stands between the MCP server and the API. */
  readonly wrap?: (ask: LedgerAsk) => LedgerAsk;
}

export interface LedgerClient {
  readonly client: Client;
  /** A tool's result. */
  call(name: string, args?: Readonly<Record<string, unknown>>, answer?: object): Promise<any>;
  tools(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function ledgerClient(
  server: Pick<TestServer, 'url' | 'tokens'>,
  {
    as,
    decides = false,
    era = 'modern',
    person,
    keepsQuestions = false,
    wrap = (ask) => ask,
  }: LedgerConnecting,
): Promise<LedgerClient> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const ends = new AbortController();
  const authorization = `Bearer ${server.tokens[as]}`;
  const ask: LedgerAsk = (path, init) =>
    fetch(new URL(path, server.url), { ...init, headers: { ...init.headers, authorization } });
  const api = new LedgerApi({ ask: wrap(ask), url: server.url });
  const options = { operations: OPERATIONS, api, version: '0', decides, transport: far as never };
  const ended = serveLedger({ ...options, onWarning: () => undefined }, ends.signal);
  const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
  const capabilities = person === undefined ? {} : { elicitation: {} };
  const client = new Client(
    { name: 'test', version: '0' },
    {
      capabilities,
      versionNegotiation: { mode },
      ...(keepsQuestions && { inputRequired: { autoFulfill: false } }),
    },
  );
  if (person !== undefined)
    client.setRequestHandler(
      'elicitation/create',
      async ({ params }) => (await person(params.message)) as never,
    );
  await Promise.race([ended, client.connect(near)]);
  return {
    client,
    call: (name, args = {}, answer = {}) =>
      client.callTool(
        { name, arguments: args, ...answer } as never,
        (keepsQuestions ? { allowInputRequired: true } : {}) as never,
      ),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: async () => {
      await client.close();
      ends.abort();
      await ended;
    },
  };
}

/** The texts of a result, one a line. */
export function textOf(result: any): string {
  return result.content.map(({ text = '' }) => text).join('\n');
}

/** A person at a client who gives one answer to every question, with the questions so far. */
export function personWho(answer: unknown): {
  readonly asked: string[];
  readonly person: (text: string) => unknown;
} {
  const asked: string[] = [];
  const person = (text: string): unknown => {
    asked.push(text);
    return answer;
  };
  return { asked, person };
}

/** The answer of a person who confirms. */
export const YES = { action: 'accept', content: { approve: true } };

/** Proposes a payment of the till. More than 100 waits for the boss. */
export async function pay(
  server: TestServer,
  amount: number,
  key: string,
  desk: string = 'a',
): Promise<any> {
  const body = { action: 'pay', role: { name: 'clerk', params: { desk } }, args: { amount } };
  const path = '/v1/trajectories/main/proposals';
  return (await server.ask('POST', path, { token: server.tokens['agent:scout'], key, body })).body;
}

/** A payment that waits, as the inbox shows it. */
export async function waitingPayment(server: TestServer): Promise<any> {
  const { approval_id } = await pay(server, 500, 'large');
  const token = server.tokens['boss:ada'];
  return (await server.ask('GET', `/v1/approvals/${approval_id}`, { token })).body.approval;
}

/** The desks of the till. */
export async function desksOf(server: TestServer): Promise<any> {
  const token = server.tokens['auditor:eve'];
  return (await server.ask('GET', '/v1/trajectories/main/state', { token })).body.state.desks;
}

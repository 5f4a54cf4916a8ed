import { expect } from 'vitest';
import { OPERATIONS, type Operation } from '#server';
import { pathOf, principalOf } from './refusals.ts';
import type { Answered, PrincipalName, TestServer } from './serving.ts';

/** A request of an operation. `as`: default: the first principal that may use it. */
export interface Calling {
  readonly as?: PrincipalName;
  readonly token?: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function operationNamed(id: string): Operation {
  const one = OPERATIONS.find((candidate) => candidate.id === id);
  if (one === undefined) throw new Error(`There is no operation ${id}.`);
  return one;
}

/** Calls an operation by its id, and returns its answer of any status. */
export function callOperation(
  server: TestServer,
  id: string,
  calling: Calling = {},
): Promise<Answered> {
  const one = operationNamed(id);
  const {
    as = principalOf(one),
    token = server.tokens[as],
    path,
    query = {},
    body,
    key,
    headers,
  } = calling;
  const search = new URLSearchParams(query).toString();
  return server.ask(
    one.method.toUpperCase(),
    `${pathOf(one, path)}${search === '' ? '' : `?${search}`}`,
    {
      ...{ token, body, key },
      ...(headers !== undefined && { headers }),
    },
  );
}

/** The document of an answer that has a status and the form of the operation. */
export async function succeed(server: TestServer, id: string, calling: Calling = {}): Promise<any> {
  const { statuses = [200], answer, accepted, isLines = false, media } = operationNamed(id);
  const { status, text, body, headers } = await callOperation(server, id, calling);
  expect(statuses, `${id}: ${status} ${text.slice(0, 1_000)}`).toContain(status);
  const isOther = accepted !== undefined && headers.get('content-type') === accepted.media;
  const form = isOther ? accepted.answer : answer;
  const type = media ?? (isLines ? 'application/jsonl' : 'application/json');
  if (!isOther) expect(headers.get('content-type')).toBe(type);
  const documents = isLines
    ? text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [media === undefined ? body : text];
  for (const document of documents) {
    const parsed = form.safeParse(document);
    expect(
      parsed.success ? parsed.data : parsed.error.issues,
      `${id}: ${text.slice(0, 1_000)}`,
    ).toEqual(document);
  }
  return isLines ? documents : documents[0];
}

/** A proposal of the agent for a desk of the till. */
export function pay(
  desk: string,
  amount: number,
  key: string,
  more: Partial<Calling> = {},
): Calling {
  const role = { name: 'clerk', params: { desk } };
  return {
    as: 'agent:scout',
    path: { trajectory: 'main' },
    key,
    body: { action: 'pay', role, args: { amount } },
    ...more,
  };
}

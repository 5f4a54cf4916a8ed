import {
  ADMINS,
  ANYBODY,
  type Caller,
  hash,
  instant,
  makerOf,
  name,
  next,
  type Operation,
  PAGE_DEFAULT,
  page,
  ServerError,
} from '@assize/command/operation';
import { writId } from 'assize/internal/authority';
import { addMicros } from 'assize/internal/canon';
import type { PrincipalKind } from 'assize/internal/config';
import { z } from 'zod';
import { operation, type ServerService } from '../service.ts';

const kind = z.enum(['agent', 'counselor', 'auditor', 'admin']);
const tokenForm = z
  .strictObject({
    id: z.string(),
    principal: z.string(),
    kinds: z.array(kind),
    created: instant,
    expires: instant,
    note: z.string().optional(),
    by: z
      .strictObject({ principals: z.array(z.string()), method: z.string() })
      .optional()
      .describe('who created it; `command line`: the holder of the root key'),
    writ_id: hash.optional(),
  })
  .meta({ id: 'Token', description: 'A bearer token, without its secret.' });

const me = operation({
  id: 'principals.me',
  method: 'get',
  path: '/v1/me',
  summary: 'The principal of the request.',
  kinds: ANYBODY,
  answer: z
    .strictObject({ name: z.string(), kinds: z.array(kind), method: z.string() })
    .meta({ id: 'Principal', description: 'A caller of the server.' }),
  run: async ({ caller: { name, kinds, method } }) => ({
    body: { name, kinds: [...kinds], method },
  }),
});

/** The rows of one principal, or of all. */
const rowsQuery = z.strictObject({ principal: name.optional(), ...page });

/** The first rows of a principal, and the cursor of the next page if there are more. */
async function pageOf<Row extends { readonly id: string; readonly principal: string }>(
  rows: AsyncIterable<Row>,
  { principal, limit = PAGE_DEFAULT }: z.output<typeof rowsQuery>,
): Promise<{ readonly rows: Row[]; readonly next?: string }> {
  const found: Row[] = [];
  for await (const row of rows) {
    if (principal !== undefined && row.principal !== principal) continue;
    if (found.length === limit) return { rows: found, next: (found.at(-1) as Row).id };
    found.push(row);
  }
  return { rows: found };
}

const list = operation({
  id: 'tokens.list',
  method: 'get',
  path: '/v1/tokens',
  summary: 'The tokens of all principals or of one, by id, without their secrets.',
  kinds: ADMINS,
  query: rowsQuery,
  answer: z.strictObject({ tokens: z.array(tokenForm), next }),
  run: async ({ query, service }) => {
    const { rows, ...more } = await pageOf(service.tokens.list(query.cursor), query);
    const tokens = rows.map(({ writ, by, ...row }) => ({
      ...row,
      kinds: [...row.kinds],
      ...(by !== undefined && { by: { ...by, principals: [...by.principals] } }),
      ...(writ !== undefined && { writ_id: writId(writ.writ) }),
    }));
    return { body: { tokens, ...more } };
  },
});

const create = operation({
  id: 'tokens.create',
  method: 'post',
  path: '/v1/tokens',
  summary:
    'Create a bearer token for an agent of the configuration, or for the caller. The answer has its text, once. For other people only with `server.tokensForPeople`.',
  kinds: ADMINS,
  body: z
    .strictObject({
      principal: name,
      kinds: z.array(kind).min(1).optional().describe('default: all kinds of the principal'),
      days: z.number().int().min(1).max(365),
      note: z.string().max(512).optional(),
    })
    .meta({ id: 'NewToken' }),
  answer: tokenForm.extend({ token: z.string() }),
  statuses: [201],
  errors: ['not_found'],
  run: async ({ body, caller, service }) => {
    const known = service.config.principals.get(body.principal);
    if (known === undefined)
      throw new ServerError('not_found', `The configuration has no principal ${body.principal}.`);
    const kinds = body.kinds ?? known.kinds;
    const extra = kinds.find((one) => !known.kinds.includes(one));
    if (extra !== undefined)
      throw new ServerError(
        'forbidden',
        `${body.principal} is not of the kind ${extra}. Ask for fewer kinds.`,
      );
    requireMayCreate(service, caller, body.principal, kinds);
    await service.grants.stops.requireNone([body.principal], 'now');
    const created = service.clock.now();
    const { token, row } = await service.tokens.create({
      principal: body.principal,
      kinds,
      created,
      expires: addMicros(created, body.days * 86_400_000_000),
      by: makerOf(caller),
      ...(body.note !== undefined && { note: body.note }),
    });
    return {
      status: 201,
      body: { ...row, kinds: [...row.kinds], writ: undefined, token } as never,
    };
  },
});

/**
 * Refuses tokens of other people: the maker of a person's token can decide as that person. An own
 * token counts for no more than the caller's credential.
 *
 * @throws ServerError `forbidden`
 */
function requireMayCreate(
  { config }: ServerService,
  caller: Caller,
  principal: string,
  kinds: readonly PrincipalKind[],
): void {
  const isOwn = principal === caller.name && isWithin(kinds, caller.kinds);
  if (isOwn || isWithin(kinds, ['agent']) || config.server.tokensForPeople) return;
  throw new ServerError(
    'forbidden',
    `${caller.name} cannot create this token: a person's token would let its maker decide as ${principal}. Print a link with assize token sign-in ${principal}, or a token with assize token create, on the machine of the server, or set server.tokensForPeople.`,
  );
}

function isWithin(kinds: readonly PrincipalKind[], all: readonly PrincipalKind[]): boolean {
  return kinds.every((one) => all.includes(one));
}

const revoke = operation({
  id: 'tokens.revoke',
  method: 'delete',
  path: '/v1/tokens/{token}',
  summary: 'Revoke a token. It counts no more from the next request on.',
  kinds: ADMINS,
  params: z.strictObject({
    token: z.string().regex(/^[0-9a-f]{16}$/, 'must be the id of a token, as tokens.list has it'),
  }),
  answer: z.strictObject({ revoked: z.boolean() }),
  errors: ['not_found'],
  run: async ({ path, service }) => {
    if (await service.tokens.revoke(path.token)) return { body: { revoked: true } };
    throw new ServerError(
      'not_found',
      `There is no token ${path.token}. List them with GET /v1/tokens.`,
    );
  },
});

const sessionForm = z
  .strictObject({
    id: hash,
    principal: z.string(),
    method: z.string(),
    created: instant,
    expires: instant,
  })
  .meta({ id: 'Session', description: 'A signed-in browser, without its cookie and its claims.' });

const sessions = operation({
  id: 'sessions.list',
  method: 'get',
  path: '/v1/sessions',
  summary:
    'The sessions of all principals or of one, by id. An ended one stays for an hour at most.',
  kinds: ADMINS,
  query: rowsQuery,
  answer: z.strictObject({ sessions: z.array(sessionForm), next }),
  run: async ({ query, service }) => {
    const { rows, ...more } = await pageOf(service.sessions.list(query.cursor), query);
    return { body: { sessions: rows.map(({ person: _person, ...row }) => row), ...more } };
  },
});

const endSession = operation({
  id: 'sessions.end',
  method: 'delete',
  path: '/v1/sessions/{session}',
  summary: 'End a session. A browser ends its own with DELETE /v1/session.',
  kinds: ADMINS,
  params: z.strictObject({ session: hash }),
  answer: z.strictObject({ ended: z.boolean() }),
  errors: ['not_found'],
  run: async ({ path, caller, service }) => {
    const now = service.clock.now();
    if (await service.sessions.endById(path.session, caller.name, now))
      return { body: { ended: true } };
    throw new ServerError(
      'not_found',
      `There is no session ${path.session}. List them with GET /v1/sessions.`,
    );
  },
});

export const principals: readonly Operation<ServerService>[] = [
  me,
  list,
  create,
  revoke,
  sessions,
  endSession,
];

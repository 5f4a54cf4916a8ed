import { z } from 'zod';
import { addMicros } from '#canon';
import { ServerError } from '../errors.ts';
import { hash, instant, name } from './forms.ts';
import { ADMINS, ANYBODY, type Operation, operation } from './operation.ts';

const kind = z.enum(['agent', 'counselor', 'auditor', 'admin']);
const tokenForm = z
  .strictObject({
    id: z.string(),
    principal: z.string(),
    kinds: z.array(kind),
    created: instant,
    expires: instant,
    note: z.string().optional(),
    writ_id: hash.optional(),
  })
  .meta({ id: 'Token', description: 'A bearer token, without its secret.' });

const me = operation({
  id: 'principals.me',
  method: 'get',
  path: '/v1/me',
  summary: 'The principal of the request.',
  kinds: ANYBODY,
  answer: z.strictObject({ name: z.string(), kinds: z.array(kind), method: z.string() }),
  run: async ({ caller: { name, kinds, method } }) => ({ body: { name, kinds: [...kinds], method } }),
});

const list = operation({
  id: 'tokens.list',
  method: 'get',
  path: '/v1/tokens',
  summary: 'The tokens of all principals, without their secrets.',
  kinds: ADMINS,
  answer: z.strictObject({ tokens: z.array(tokenForm) }),
  run: async ({ service }) => {
    const tokens = (await service.tokens.list()).map(({ writ, ...row }) => ({
      ...row,
      kinds: [...row.kinds],
      ...(writ !== undefined && { writ_id: service.writs.idOf(writ.writ) }),
    }));
    return { body: { tokens } };
  },
});

const create = operation({
  id: 'tokens.create',
  method: 'post',
  path: '/v1/tokens',
  summary: 'Create a bearer token for a principal of the configuration. The answer has its text, once.',
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
  errors: ['no_such_value'],
  run: async ({ body, service }) => {
    const known = service.config.principals.get(body.principal);
    if (known === undefined)
      throw new ServerError('no_such_value', `The configuration has no principal ${body.principal}.`);
    const kinds = body.kinds ?? known.kinds;
    const extra = kinds.find((one) => !known.kinds.includes(one));
    if (extra !== undefined)
      throw new ServerError('forbidden', `${body.principal} is not of the kind ${extra}. Ask for fewer kinds.`);
    const created = service.clock.now();
    const { token, row } = await service.tokens.create({
      principal: body.principal,
      kinds,
      created,
      expires: addMicros(created, body.days * 86_400_000_000),
      ...(body.note !== undefined && { note: body.note }),
    });
    return { status: 201, body: { ...row, kinds: [...row.kinds], writ: undefined, token } as never };
  },
});

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
  errors: ['no_such_value'],
  run: async ({ path, service }) => {
    if (await service.tokens.revoke(path.token)) return { body: { revoked: true } };
    throw new ServerError('no_such_value', `There is no token ${path.token}. List them with GET /v1/tokens.`);
  },
});

export const principals: readonly Operation[] = [me, list, create, revoke];

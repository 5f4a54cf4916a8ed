import {
  ADMINS,
  hash,
  instant,
  name,
  next,
  type Operation,
  PAGE_DEFAULT,
  page,
  ServerError,
} from '@assize/command/operation';
import { z } from 'zod';
import { operation, type ServerService } from '../service.ts';

const failedForm = z
  .strictObject({
    id: z.string().describe('the id that the receiver saw at each attempt'),
    type: z.enum(['approval.requested', 'approval.reminder', 'approval.resolved']),
    receiver: z.string().describe('for `notices.retry`'),
    shown_as: z.string().describe('the origin of a webhook, or the principal of a mail'),
    configured: z.boolean().describe('whether this server still has the receiver'),
    entry_id: hash,
    attempts: z.number().int(),
    at: instant.describe('when the notice was given up'),
    error: z.strictObject({ code: z.string(), detail: z.string() }),
  })
  .meta({ id: 'FailedNotice', description: 'A notice that was given up.' });

const failed = operation({
  id: 'notices.failed',
  method: 'get',
  path: '/v1/notices/failed',
  summary: 'Notices that were given up after their last attempt, oldest first.',
  kinds: ['auditor', 'admin'],
  query: z.strictObject(page),
  answer: z.strictObject({ notices: z.array(failedForm), next }),
  run: async ({ query, service }) => {
    const { cursor, limit = PAGE_DEFAULT } = query;
    const found = await service.failedNotices.list({ after: cursor, limit });
    const notices = found.notices.map(
      ({ id, type, receiver, shown, isConfigured, entry, attempts, at, error }) => ({
        ...{
          id,
          type,
          receiver,
          shown_as: shown,
          configured: isConfigured,
          entry_id: entry,
          attempts,
          at,
        },
        error: error ?? { code: 'internal', detail: '' },
      }),
    );
    return { body: { notices, ...(found.next !== undefined && { next: found.next }) } };
  },
});

const retry = operation({
  id: 'notices.retry',
  method: 'post',
  path: '/v1/notices/retry',
  summary: 'Send failed notices of a receiver again, with all their attempts: all of them, or one.',
  kinds: ADMINS,
  body: z
    .strictObject({ receiver: name, id: name.optional().describe('default: all of the receiver') })
    .meta({ id: 'NoticeRetry' }),
  answer: z.strictObject({ retried: z.number().int() }),
  errors: ['not_found'],
  run: async ({ body, service }) => {
    const { receiver, id } = body;
    const retried = await service.failedNotices.retry(receiver, id);
    if (retried === undefined)
      throw new ServerError(
        'not_found',
        'This server has no such receiver. List them with GET /v1/notices/failed.',
      );
    if (id !== undefined && retried === 0)
      throw new ServerError(
        'not_found',
        'The receiver has no such failed notice. It may be queued again already.',
      );
    return { body: { retried } };
  },
});

export const notices: readonly Operation<ServerService>[] = [failed, retry];

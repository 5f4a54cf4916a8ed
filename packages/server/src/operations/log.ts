import { exportLines } from '@assize/audit/internal/export';
import {
  digits,
  hash,
  json,
  name,
  type Operation,
  READERS,
  ServerError,
} from '@assize/command/operation';
import { integrateLog } from 'assize/internal/ledger';
import { verifyStore } from 'assize/internal/runtime';
import { z } from 'zod';
import { operation, type ServerService } from '../service.ts';

const exported = operation({
  id: 'log.export',
  method: 'get',
  path: '/v1/export',
  summary: 'The whole ledger as JSON Lines, in the order of the log.',
  kinds: ['auditor', 'admin'],
  query: z.strictObject({ size: digits.optional().describe('only the first entries of the log') }),
  answer: json,
  isLines: true,
  run: async ({ query, service }) => {
    const logged = await integrateLog(service.store);
    const size = query.size ?? logged;
    if (size < 1 || size > logged)
      throw new ServerError(
        'not_found',
        `The log has ${logged} entries. Pass a size from 1 to ${logged}.`,
      );
    return { lines: exportLines(service.store, { size }) };
  },
});

const verifyReportForm = z
  .looseObject({
    trajectory_id: z.string(),
    valid: z.boolean(),
    entries: z.number().int().describe('accepted entries'),
    head: hash.nullable(),
    open: z.number().int(),
    delegated: z.number().int(),
    signed: z.number().int(),
    erased: z.number().int(),
    fault: z
      .looseObject({
        trajectory_id: z.string(),
        seq: z.number().int(),
        code: z.string(),
        detail: z.string(),
      })
      .optional(),
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: 'VerifyReport' });

const verify = operation({
  id: 'log.verify',
  method: 'post',
  path: '/v1/verify',
  summary: 'Verify trajectories from their first entries: hashes, chains, signatures and states.',
  kinds: READERS,
  body: z
    .strictObject({ trajectories: z.array(name).min(1).max(1_000).optional() })
    .meta({ id: 'Verification' }),
  answer: z.strictObject({ valid: z.boolean(), reports: z.array(verifyReportForm) }),
  run: async ({ body, service }) => {
    const { trajectories } = body;
    for (const trajectory of trajectories ?? [])
      if ((await service.store.head(trajectory)) === undefined)
        throw new ServerError('not_found', `There is no trajectory ${trajectory}.`);
    const reports = await verifyStore(service.store, {
      threads: 1,
      ...(trajectories !== undefined && { trajectoryIds: trajectories }),
    });
    return {
      body: {
        valid: reports.every(({ valid }) => valid),
        reports: reports.map(({ warnings, ...report }) => ({
          ...report,
          ...(warnings !== undefined && { warnings: [...warnings] }),
        })) as z.input<typeof verifyReportForm>[],
      },
    };
  },
});

export const log: readonly Operation<ServerService>[] = [exported, verify];

import { exportLines, integrateLog } from 'assize/internal/ledger';
import { verifyStore } from 'assize/internal/runtime';
import { summaryOf } from 'assize/internal/views';
import { z } from 'zod';
import type { CheckpointDocument } from '../checkpoints.ts';
import { ServerError } from '../errors.ts';
import type { Service } from '../service.ts';
import { digits, hash, instant, json, name } from './forms.ts';
import { type Operation, operation, READERS } from './operation.ts';

const checkpointForm = z
  .strictObject({
    origin: z.string(),
    key: z.string().describe('the public key of the log (c2sp.org/signed-note)'),
    checkpoint: z.string().describe('the signed note (c2sp.org/tlog-checkpoint)'),
    size: z.number().int(),
    root: z.string(),
    witnesses: z.array(
      z.strictObject({
        name: z.string(),
        key: z.string(),
        cosigned_at: instant.optional().describe('absent if this checkpoint has no cosignature of the witness'),
      }),
    ),
    covers_until: instant.optional().describe('the time of the last of its entries'),
  })
  .meta({ id: 'Checkpoint' });

const get = operation({
  id: 'checkpoints.latest',
  method: 'get',
  path: '/v1/checkpoints/latest',
  summary: 'The last signed checkpoint of the log.',
  kinds: READERS,
  answer: checkpointForm,
  errors: ['not_found', 'wrong_state'],
  run: async ({ service }) => {
    const last = await service.checkpoints.latest();
    if (last !== undefined) return { body: await documentOf(service, last), etag: last.root };
    throw new ServerError('not_found', 'The log has no checkpoint. Sign one with POST /v1/checkpoints.');
  },
});

const create = operation({
  id: 'checkpoints.create',
  method: 'post',
  path: '/v1/checkpoints',
  summary: 'Verify the entries since the last checkpoint, and sign the size and the root of the log.',
  kinds: ['auditor', 'admin'],
  answer: checkpointForm,
  statuses: [201],
  errors: ['wrong_state'],
  run: async ({ service }) => ({ status: 201, body: await documentOf(service, await service.checkpoints.sign()) }),
});

async function documentOf({ store }: Service, checkpoint: CheckpointDocument): Promise<z.input<typeof checkpointForm>> {
  const [row] = checkpoint.size === 0 ? [] : await store.logged(checkpoint.size - 1, 1);
  const at = row === undefined ? '' : summaryOf(row).at;
  const witnesses = checkpoint.witnesses.map((one) => ({ ...one }));
  return { ...checkpoint, witnesses, ...(at !== '' && { covers_until: at }) };
}

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
      throw new ServerError('not_found', `The log has ${logged} entries. Pass a size from 1 to ${logged}.`);
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
      .looseObject({ trajectory_id: z.string(), seq: z.number().int(), code: z.string(), detail: z.string() })
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
  body: z.strictObject({ trajectories: z.array(name).min(1).max(1_000).optional() }).meta({ id: 'Verification' }),
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

export const log: readonly Operation[] = [get, create, exported, verify];

import {
  entryNamed,
  hash,
  instant,
  name,
  type Operation,
  READERS,
  ServerError,
} from '@assize/command/operation';
import { checkRow } from 'assize/internal/ledger';
import { summaryOf } from 'assize/internal/views';
import { z } from 'zod';
import { proveEntry } from '#checkpoints';
import type { CheckpointDocument } from './log-checkpoints.ts';
import { type AuditService, operation } from './service.ts';

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
        cosigned_at: instant
          .optional()
          .describe('absent if this checkpoint has no cosignature of the witness'),
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
    throw new ServerError(
      'not_found',
      'The log has no checkpoint. Sign one with POST /v1/checkpoints.',
    );
  },
});

const create = operation({
  id: 'checkpoints.create',
  method: 'post',
  path: '/v1/checkpoints',
  summary:
    'Verify the entries since the last checkpoint, and sign the size and the root of the log.',
  kinds: ['auditor', 'admin'],
  answer: checkpointForm,
  statuses: [201],
  errors: ['wrong_state'],
  run: async ({ service }) => ({
    status: 201,
    body: await documentOf(service, await service.checkpoints.sign()),
  }),
});

async function documentOf(
  { store }: AuditService,
  checkpoint: CheckpointDocument,
): Promise<z.input<typeof checkpointForm>> {
  const [row] = checkpoint.size === 0 ? [] : await store.logged(checkpoint.size - 1, 1);
  const at = row === undefined ? '' : summaryOf(row).at;
  const witnesses = checkpoint.witnesses.map((one) => ({ ...one }));
  return { ...checkpoint, witnesses, ...(at !== '' && { covers_until: at }) };
}

const proof = operation({
  id: 'entries.proof',
  method: 'get',
  path: '/v1/entries/{entry}/proof',
  summary:
    'A proof that an entry is in the log of the last checkpoint (c2sp.org/tlog-proof). Signs nothing.',
  kinds: READERS,
  params: z.strictObject({ entry: name }),
  answer: z.strictObject({ entry_id: hash, log: z.string(), key: z.string(), proof: z.string() }),
  errors: ['not_checkpointed'],
  run: async (request) => {
    const { path, service } = request;
    const row = await entryNamed(request, path.entry);
    checkRow(row);
    const { origin, key, known } = service.checkpoints;
    const last = await service.checkpoints.latest();
    const index = await service.store.logIndex(row.id);
    if (last === undefined || index === undefined || index >= last.size)
      throw new ServerError(
        'not_checkpointed',
        `No checkpoint covers the entry ${row.id} yet. Sign one with POST /v1/checkpoints, and repeat the request.`,
        { evidence: { id: row.id } },
      );
    const text = await proveEntry(service.store, row.id, last.checkpoint, known);
    return { body: { entry_id: row.id, log: origin, key, proof: text } };
  },
});

export const checkpoints: readonly Operation<AuditService>[] = [get, create];
export const proofs: readonly Operation<AuditService>[] = [proof];

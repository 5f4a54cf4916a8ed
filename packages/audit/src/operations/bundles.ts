import {
  entryNamed,
  fileForm,
  isOfKind,
  name,
  type Operation,
  READERS,
  ServerError,
} from '@assize/command/operation';
import { isAssizeError } from 'assize/internal/base';
import { readInstant } from 'assize/internal/canon';
import { type EntryRow, type Hash, readRow } from 'assize/internal/ledger';
import { parseVerifierKey } from 'assize/internal/merkle';
import { z } from 'zod';
import { type BundleScope, makeBundle } from '#bundle';
import type { CheckpointDocument } from './log-checkpoints.ts';
import { type AuditService, operation } from './service.ts';

const bundleQuery = z.strictObject({
  entry: name.optional().describe('an entry, by its id or as TRAJECTORY@SEQ'),
  approval: name
    .optional()
    .describe('a pending proposal or the decision about it, by its id or as TRAJECTORY@SEQ'),
  person: name.optional().describe('a principal: what it decided, and what ran under its writs'),
  from: name.optional().describe('the first time of a period'),
  to: name.optional().describe('the time after a period'),
  trajectory: name.optional().describe('of a person or a period: only this trajectory'),
});

type BundleQuery = z.output<typeof bundleQuery>;

const make = operation({
  id: 'bundles.make',
  method: 'get',
  path: '/v1/bundles',
  summary:
    'A proof bundle: a zip of entries and of all that shows offline that they are in the log of the last checkpoint. ' +
    'Its scope is one of `entry`, `approval`, `person` (with or without a period), or a period. Signs nothing.',
  kinds: READERS,
  query: bundleQuery,
  answer: fileForm,
  media: 'application/zip',
  errors: ['not_checkpointed', 'not_found', 'not_found', 'too_large'],
  run: async (request) => {
    const { query, service, caller } = request;
    const scope = await scopeOf(query, (text) => entryNamed(request, text));
    const isSearch = scope.kind === 'person' || scope.kind === 'period';
    if (isSearch && !isOfKind(caller, ['auditor', 'admin']))
      throw new ServerError(
        'forbidden',
        'Only an auditor or an administrator may bundle a person or a period. Ask for an entry or an approval.',
      );
    const last = await service.checkpoints.latest();
    if (last === undefined) throw notCheckpointed('The log has no checkpoint yet.');
    const zip = await service.bundles.run(request.signal, () =>
      bundled(service, scope, last, request.signal),
    );
    return {
      bytes: zip,
      headers: {
        'content-type': 'application/zip',
        'content-disposition': `attachment; filename="${fileName(scope)}"`,
      },
    };
  },
});

async function bundled(
  service: AuditService,
  scope: BundleScope,
  { checkpoint, key }: CheckpointDocument,
  signal: AbortSignal,
) {
  try {
    const { zip } = await makeBundle(service.store, {
      ...service.verifiers,
      ...{ scope, checkpoint, logKey: parseVerifierKey(key), madeAt: service.clock.now(), signal },
      witnesses: service.checkpoints.witnessKeys,
    });
    return zip;
  } catch (error) {
    if (isAssizeError(error, 'not_checkpointed') && 'checkpoint' in error.evidence)
      throw notCheckpointed(error.message);
    throw error;
  }
}

function notCheckpointed(why: string): ServerError {
  return new ServerError(
    'not_checkpointed',
    `${why} Sign a checkpoint with POST /v1/checkpoints, and repeat the request.`,
  );
}

/** The scope of a request. @throws ServerError `invalid_request`, `not_found` */
async function scopeOf(
  { entry, approval, person, from, to, trajectory }: BundleQuery,
  named: (text: string) => Promise<EntryRow>,
): Promise<BundleScope> {
  if ([entry, approval, person].filter((one) => one !== undefined).length > 1)
    throw invalid('name one of entry, approval and person');
  const within = periodOf(from, to);
  const searched = { ...within, ...(trajectory !== undefined && { trajectory }) };
  const isNamed = entry !== undefined || approval !== undefined;
  if (isNamed && Object.keys(searched).length > 0)
    throw invalid('from, to and trajectory belong to a person or a period');
  if (entry !== undefined) return { kind: 'entry', entry: (await named(entry)).id };
  if (approval !== undefined) return { kind: 'approval', approval: askedIn(await named(approval)) };
  if (person !== undefined) return { kind: 'person', person, ...searched };
  if (within === undefined)
    throw invalid('name an entry, an approval, a person, or a period with from and to');
  return { kind: 'period', ...within, ...(trajectory !== undefined && { trajectory }) };
}

/** The pending entry that an entry decides, or the entry itself. */
function askedIn(row: EntryRow): Hash {
  const { payload } = readRow(row);
  const decides = payload.kind === 'commit' || payload.kind === 'rejection';
  return (decides && payload.resolves) || row.id;
}

function periodOf(from: string | undefined, to: string | undefined) {
  if (from === undefined && to === undefined) return undefined;
  const [start, end] = [from, to].map((text) =>
    text === undefined ? undefined : readInstant(text),
  );
  if (start === undefined || end === undefined)
    throw invalid('from and to are both needed, each a time such as 2026-03-23T09:00:00Z or a day');
  if (start >= end) throw invalid('from must be before to');
  return { from: start, to: end };
}

function invalid(what: string): ServerError {
  return new ServerError('invalid_request', `The request is not valid: ${what}.`, {
    evidence: { findings: [{ pointer: '/query', message: what }] },
  });
}

/** A name without a text of a caller, except for hex digits. */
function fileName(scope: BundleScope): string {
  const id = scope.kind === 'entry' ? scope.entry : scope.kind === 'approval' ? scope.approval : '';
  return `assize-proof-${scope.kind}${id === '' ? '' : `-${id.slice(0, 8)}`}.zip`;
}

export const bundles: readonly Operation<AuditService>[] = [make];

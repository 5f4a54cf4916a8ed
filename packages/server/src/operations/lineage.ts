import {
  diffView,
  documentForm,
  entryNamed,
  hash,
  name,
  type Operation,
  patchForm,
  READERS,
  tagsOfStates,
} from '@assize/command/operation';
import type { EntryRow } from 'assize/internal/ledger';
import { divergenceOf } from 'assize/internal/views';
import { z } from 'zod';
import { operation, type ServerService } from '../service.ts';

const diff = operation({
  id: 'entries.diff',
  method: 'get',
  path: '/v1/diff',
  summary: 'The difference of two states (RFC 6902), and where their chains part.',
  kinds: READERS,
  query: z.strictObject({ from: name, to: name }),
  answer: z.strictObject({
    from: documentForm,
    to: documentForm,
    equal: z.boolean(),
    after: documentForm.nullable().describe('the last common entry; null for chains without one'),
    patch: z.array(patchForm),
  }),
  run: async (request) => {
    const { query, service } = request;
    const [a, b] = await Promise.all([
      entryNamed(request, query.from),
      entryNamed(request, query.to),
    ]);
    const tagOf = await tagsOfStates(service);
    const etag = `${tagOf(a)}-${b.id}`;
    if (request.hasAnswer(etag)) return { etag };
    const stateAt = (entry: EntryRow) =>
      service.assize.readState(entry, (state) => structuredClone(state));
    const states = [await stateAt(a), await stateAt(b)] as const;
    const divergence = await divergenceOf(service.store, a, b);
    return { etag, body: diffView([a, b], states, divergence) as never };
  },
});

const dependentForm = z
  .looseObject({
    id: hash,
    trajectoryId: z.string(),
    seq: z.number().int(),
    at: z.string(),
    action: z.string(),
    how: z.array(z.enum(['belief', 'recall'])),
    from: z.array(hash),
  })
  .meta({ id: 'Dependent', description: 'A commit that derives from an entry.' });

const dependents = operation({
  id: 'entries.dependents',
  method: 'get',
  path: '/v1/entries/{entry}/dependents',
  summary: 'Every commit that derives from an entry, by facts and by recalls.',
  kinds: READERS,
  params: z.strictObject({ entry: name }),
  answer: z.strictObject({ dependents: z.array(dependentForm) }),
  run: async (request) => {
    const row = await entryNamed(request, request.path.entry);
    const found = await request.service.assize.dependents(row.id);
    return { body: { dependents: found.map((one) => ({ ...one })) as never } };
  },
});

export const lineage: readonly Operation<ServerService>[] = [diff, dependents];

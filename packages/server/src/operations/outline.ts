import {
  hash,
  json,
  name,
  type Operation,
  PAGE_DEFAULT,
  page,
  placeView,
  READERS,
  tagsOfStates,
} from '@assize/command/operation';
import type { Json } from 'assize/internal/base';
import { canonicalize, hashText, parsePointer } from 'assize/internal/canon';
import { z } from 'zod';
import { operation, type ServerService } from '../service.ts';
import { outlineOf } from './reads/outline-of.ts';
import { at, partOf, pointIn } from './trajectories.ts';

const memberForm = z
  .strictObject({
    key: z.string(),
    value: json.optional().describe('of a short member'),
    count: z.number().int().optional().describe('of a long member: how many members it has'),
  })
  .meta({ id: 'StateMember' });

const outline = operation({
  id: 'trajectories.outline',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/outline',
  summary: 'A value of the verified state. Of a large one, a page of its members, by key.',
  kinds: READERS,
  params: z.strictObject({ trajectory: name }),
  query: z.strictObject({
    at,
    pointer: z.string().optional(),
    text: name.optional().describe('a part of the keys, in any case'),
    cursor: z.string().max(65_536).optional(),
    limit: page.limit,
  }),
  answer: z.strictObject({
    trajectory_id: z.string(),
    seq: z.number().int(),
    entry_id: hash,
    pointer: z.string(),
    value: json.optional().describe('the whole value, if it is not large'),
    count: z.number().int().optional().describe('how many members match'),
    members: z.array(memberForm).readonly().optional(),
    next: z
      .string()
      .optional()
      .describe('pass it as `cursor` for the next page; absent on the last one'),
  }),
  run: async (request) => {
    const { path, query, service } = request;
    const { pointer = '', text, cursor: after, limit = PAGE_DEFAULT } = query;
    // An invalid pointer is refused before any read.
    parsePointer(pointer);
    const point = await pointIn(request, path.trajectory, query.at);
    const tagOf = await tagsOfStates(service);
    const asked = hashText(
      canonicalize({ pointer, text: text ?? '', after: after ?? '', limit }),
    ).slice(0, 16);
    const etag = `${tagOf(point)}-${asked}`;
    if (request.hasAnswer(etag)) return { etag };
    const found = await service.assize.readState(point, (state: Json) =>
      outlineOf(partOf(state, pointer), { after, text, limit }),
    );
    return { etag, body: { ...placeView(point), pointer, ...(found as object) } };
  },
});

export const outlines: readonly Operation<ServerService>[] = [outline];

import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { beginnings, statements } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { allTrajectories } from '../../api/trajectories-query.ts';
import type { MemoryAddress } from './address.ts';

export type Fact = components['schemas']['Fact'];
export type Contradiction = components['schemas']['Contradiction'];
export type KeyCount = components['schemas']['MemoryKey'];
export type Domain = components['schemas']['Domain'];

/** A memory space, as a trajectory sees it. */
export interface Place {
  readonly trajectory: string;
  readonly space: string;
}

/** A subject and a predicate. */
export interface Key {
  readonly subject: string;
  readonly predicate: string;
}

const RECALL_LIMIT = 100;
const KEYS_PAGE = '100';
const ANSWERS_LIMIT = 20;
/** The tokens of the text for a prompt. */
export const BUDGET = 1_000;

/** The trajectories whose domain declares a memory, each with that domain. */
export function useTrajectories() {
  return useQuery({
    queryKey: ['log', 'memory', 'trajectories'],
    meta: beginnings,
    queryFn: async () => {
      const [{ domains }, trajectories] = await Promise.all([
        dataOf(api.GET('/v1/domains')),
        allTrajectories(),
      ]);
      return trajectories.flatMap(({ trajectory_id, domain: { hash, name } }) => {
        const domain =
          domains.find((one) => one.hash === hash) ?? domains.find((one) => one.name === name);
        return domain?.memory === undefined ? [] : [{ id: trajectory_id, domain }];
      });
    },
  });
}

/** The spaces that have facts. */
export function useSpaces(trajectory: string) {
  return useQuery({
    queryKey: ['log', 'memory', 'spaces', trajectory],
    meta: statements,
    enabled: trajectory !== '',
    queryFn: async () => {
      const found = await dataOf(
        api.GET('/v1/trajectories/{trajectory}', { params: { path: { trajectory } } }),
      );
      return found.memory_spaces ?? [];
    },
  });
}

/** The keys of a space, a page after the other: all, or those with a text in their names. */
export function useKeys(place: Place, text: string) {
  return useInfiniteQuery({
    queryKey: ['log', 'memory', 'keys', place, text],
    meta: statements,
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam: cursor, signal }) => {
      const query = {
        limit: KEYS_PAGE,
        ...(text !== '' && { text }),
        ...(cursor !== undefined && { cursor }),
      };
      const params = { path: { ...place }, query };
      return dataOf(
        api.GET('/v1/trajectories/{trajectory}/memory/{space}/keys', { params, signal }),
      );
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
  });
}

/** All versions of a key, oldest first. */
export function useHistory(place: Place, { subject, predicate }: Key) {
  return useQuery({
    queryKey: ['log', 'memory', 'history', place, subject, predicate],
    meta: statements,
    queryFn: async () => {
      const params = { path: { ...place }, query: { subject, predicate } };
      return (
        await dataOf(api.GET('/v1/trajectories/{trajectory}/memory/{space}/history', { params }))
      ).facts;
    },
  });
}

/** A version with its contradictions, and the entries that it rests on. */
export function useExplained(
  place: Place,
  { fact_id, subject, predicate, system_time_start }: Fact,
) {
  return useQuery({
    queryKey: ['log', 'memory', 'explained', place, fact_id, system_time_start],
    meta: statements,
    queryFn: () => {
      const path = { ...place, fact: fact_id };
      const params = { path, query: { subject, predicate, since: system_time_start } };
      return dataOf(
        api.GET('/v1/trajectories/{trajectory}/memory/{space}/facts/{fact}', { params }),
      );
    },
  });
}

/** The facts as of both times, ranked if there is a text. */
export function useRecall(place: Place, { valid, system, text = '' }: MemoryAddress) {
  const asked = text.trim();
  const query = {
    ...(valid && { valid }),
    ...(system && { system }),
    ...(asked !== '' && { text: asked }),
  };
  return useQuery({
    queryKey: ['log', 'memory', 'recall', place, query],
    meta: statements,
    placeholderData: (before) => before,
    queryFn: () => {
      const body = { ...query, limit: RECALL_LIMIT };
      const params = { path: { ...place } };
      return dataOf(
        api.POST('/v1/trajectories/{trajectory}/memory/{space}/recall', { params, body }),
      );
    },
  });
}

/** The facts for a question as a chat agent gets them, with the text for its prompt. */
export function useAnswers(
  { trajectory, space }: Place,
  { text = '', system, valid }: MemoryAddress,
) {
  const question = text.trim();
  const body = {
    ...(question !== '' && { question }),
    ...(valid && { at: valid }),
    ...(system && { as_of: system }),
    ...{ spaces: [space], limit: ANSWERS_LIMIT, budget: BUDGET },
  };
  return useQuery({
    queryKey: ['log', 'memory', 'answers', trajectory, body],
    meta: statements,
    placeholderData: (before) => before,
    queryFn: () =>
      dataOf(
        api.POST('/v1/trajectories/{trajectory}/chat/recall', {
          params: { path: { trajectory } },
          body,
        }),
      ),
  });
}

/** The names of a space that mean one thing. */
export function useAliases({ trajectory, space }: Place) {
  return useQuery({
    queryKey: ['log', 'memory', 'aliases', trajectory, space],
    meta: statements,
    queryFn: () => {
      const params = { path: { trajectory }, query: { space } };
      return dataOf(api.GET('/v1/trajectories/{trajectory}/chat/aliases', { params }));
    },
  });
}

/** Every commit that derives from an entry. */
export function useDependents(entry: string) {
  return useQuery({
    queryKey: ['memory', 'dependents', entry],
    queryFn: async () => {
      const params = { path: { entry } };
      return (await dataOf(api.GET('/v1/entries/{entry}/dependents', { params }))).dependents;
    },
  });
}

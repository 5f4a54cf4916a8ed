import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { useMe } from '../../api/queries.ts';

const TRAJECTORIES = 20;
const APPROVALS = '100';
const KEY = /^[0-9a-f]{64}$/;

/**
 * Names of principals that the API shows: the person that is signed in, subjects of writs, and
 * approvers. It is not a complete list, so other names can be typed.
 */
export function useKnownPeople(): readonly string[] {
  const me = useMe().data?.name;
  const { data = [] } = useQuery({
    queryKey: ['known people'],
    queryFn: knownPeople,
    staleTime: 60_000,
  });
  return [...new Set([...(me === undefined ? [] : [me]), ...data])].sort();
}

async function knownPeople(): Promise<readonly string[]> {
  const [subjects, approvers] = await Promise.all([subjectsOfWrits(), approversOfProposals()]);
  // The subject of a writ that can be passed on is a key, not the name of a person.
  return [...subjects.filter((name) => !KEY.test(name)), ...approvers];
}

async function subjectsOfWrits(): Promise<readonly string[]> {
  const { trajectories } = await dataOf(
    api.GET('/v1/trajectories', { params: { query: { limit: String(TRAJECTORIES) } } }),
  );
  const lists = await Promise.all(
    trajectories.map(({ trajectory_id: trajectory }) =>
      dataOf(api.GET('/v1/trajectories/{trajectory}/writs', { params: { path: { trajectory } } })),
    ),
  );
  return lists.flatMap(({ writs }) => writs.map(({ writ }) => writ.subject));
}

async function approversOfProposals(): Promise<readonly string[]> {
  const { approvals } = await dataOf(
    api.GET('/v1/approvals', { params: { query: { limit: APPROVALS } } }),
  );
  return approvals.flatMap(({ deciders, approved_by: approved }) => [
    ...deciders,
    ...approved.map(({ principal }) => principal),
  ]);
}

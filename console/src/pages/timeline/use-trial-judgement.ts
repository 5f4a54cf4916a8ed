import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { isReadable } from '../../parts/schema-form/unreadable.ts';
import type { Trial } from './trial.ts';

/** Milliseconds after the last change until the server is asked. */
const QUIET_MS = 250;

/** The ruling that a proposal would have had at an entry. It never changes, as the entry. */
export function useTrialJudgement(trajectory: string, seq: number, trial: Trial | undefined) {
  const [settled] = useDebouncedValue(trial, QUIET_MS);
  const found = useQuery({
    queryKey: ['trial', trajectory, seq, settled],
    enabled:
      settled !== undefined &&
      settled.action !== '' &&
      settled.principal !== '' &&
      isReadable(settled.args),
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: ({ signal }) => {
      const { principal, action, role, args, isBefore } = settled as Trial;
      const at = `${trajectory}@${isBefore ? seq - 1 : seq}`;
      const body = {
        principal,
        action,
        role: { name: role.name, params: { ...role.params } },
        args,
        at,
      };
      const params = { path: { trajectory } };
      return dataOf(api.POST('/v1/trajectories/{trajectory}/judge', { params, body, signal }));
    },
  });
  const isOld = JSON.stringify(settled) !== JSON.stringify(trial) || found.isPlaceholderData;
  const isUnreadable = trial !== undefined && !isReadable(trial.args);
  return { judged: isUnreadable ? undefined : found.data, isOld, isUnreadable, error: found.error };
}

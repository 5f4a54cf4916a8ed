import { Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import classes from './backtest-result.module.css';
import type { BacktestBody } from './choices.ts';
import { Differences } from './differences.tsx';
import { FirstDifference } from './first-difference.tsx';
import { UnmatchedRules } from './unmatched-rules.tsx';

type BacktestReport = components['schemas']['BacktestReport'];

interface ResultProps {
  readonly asked: BacktestBody;
  /** Whether the choices were changed after the request. */
  readonly isChanged: boolean;
}

/** Runs a backtest, and shows what differs. A failure counts until the choices change. */
export function BacktestResult({ asked, isChanged }: ResultProps) {
  const found = useQuery({
    queryKey: ['backtest', asked],
    queryFn: ({ signal }) => dataOf(api.POST('/v1/backtests', { body: asked, signal })),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
  });
  if (found.isPending) return <Loading what="the rulings" />;
  if (found.data === undefined && isChanged)
    return (
      <Empty title="Run the backtest again">
        The last run failed, and the choices have changed since.
      </Empty>
    );
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  const [report] = found.data.reports;
  return report === undefined ? (
    <Empty title="Nothing was ruled on" />
  ) : (
    <Shown report={report} rules={asked.rules} />
  );
}

function Shown({ report, rules }: { readonly report: BacktestReport; readonly rules: unknown }) {
  const [first] = report.differences;
  return (
    <Stack gap="xl">
      <Sum report={report} />
      <UnmatchedRules trajectory={report.trajectory_id} rules={rules} />
      {first !== undefined && <FirstDifference difference={first} />}
      {first !== undefined && (
        <Differences differences={report.differences} count={report.difference_count} />
      )}
    </Stack>
  );
}

const NOT_JUDGED: Readonly<Record<string, string>> = {
  erased: 'needs erased values',
  observation: 'lacks an observation',
  writ: 'lacks its writ',
  upgrade: 'is an upgrade',
  beliefs: 'did not fit the facts of that time',
  other: 'was refused for effects or a conflict',
};

/** The counts of a whole backtest. */
function Sum({ report }: { readonly report: BacktestReport }) {
  const { trajectory_id, judged, same, difference_count, policy, domain, recorded_domain } = report;
  const { not_judgeable, resolutions, moot_resolutions } = report;
  const isOther = domain.hash !== recorded_domain.hash;
  return (
    <div role="status">
      <Title order={2} size="h4" className="wraps">
        {judged === 0
          ? 'No proposal in this range'
          : difference_count === 0
            ? 'No ruling would differ'
            : `${number(difference_count)} of ${number(judged)} rulings would differ`}
      </Title>
      <Text size="sm" c="dimmed" className={classes.facts}>
        <Inert>{trajectory_id}</Inert> under{' '}
        {policy !== undefined && (
          <>
            the rule table <Inert>{policy.id}</Inert> (<code>{policy.digest.slice(0, 12)}</code>)
          </>
        )}
        {policy !== undefined && isOther && ' and '}
        {isOther && (
          <Inert>{`${domain.name}@${domain.version} in place of ${recorded_domain.name}@${recorded_domain.version}`}</Inert>
        )}
        . {number(same)} the same.
      </Text>
      {resolutions > 0 && (
        <Text size="sm" c="dimmed">
          {resolutions === 1 ? '1 human decision is' : `${number(resolutions)} human decisions are`}{' '}
          not ruled on again
          {moot_resolutions > 0 && `; ${number(moot_resolutions)} would not have been needed`}.
        </Text>
      )}
      {Object.entries(not_judgeable).map(([why, count]) => (
        <Text key={why} size="sm" c="dimmed">
          Not ruled on: {number(count)} that {NOT_JUDGED[why] ?? why}.
        </Text>
      ))}
    </div>
  );
}

function number(count: number): string {
  return count.toLocaleString('en');
}

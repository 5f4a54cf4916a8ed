import { Button, Group, Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import { useSearchParams } from 'wouter';
import { useDomains } from '../../api/domain-query.ts';
import type { TrajectoryInfo } from '../../api/trajectories-query.ts';
import { useChoices } from '../../parts/address-choices.ts';
import { Failed, Loading } from '../../parts/states.tsx';
import { useRulesFile } from '../rules/rules-query.ts';
import { askedBy, type BacktestBody, choicesOf } from './choices.ts';
import { exampleRules, useEditedRules } from './edited-rules.ts';
import { RulesField } from './rules-field.tsx';
import { SeqField } from './seq-field.tsx';
import { tableAddressOf, tableOf } from './table-address.ts';
import { VersionField } from './version-field.tsx';
import { type Domain, otherVersions, recordedDomain } from './versions.ts';

interface FormProps {
  readonly trajectory: TrajectoryInfo;
  /** The request of the shown result. */
  readonly asked: BacktestBody | undefined;
  /** With the table as the address of the page has it. */
  readonly onRun: (body: BacktestBody, table: string | undefined) => void;
  /** Told whether the choices are others than those of the shown result. */
  readonly onChanged: (isChanged: boolean) => void;
  /** Called at the start, if the address says that the backtest was run. */
  readonly onRestore: (body: BacktestBody) => void;
}

/** The choices of a backtest of one trajectory. */
export function BacktestForm(props: FormProps) {
  const domains = useDomains();
  const isGateway = props.trajectory.domain.name === 'gateway';
  const file = useRulesFile(props.trajectory.trajectory_id, isGateway);
  if (domains.isPending || (isGateway && file.isPending)) return <Loading what="the rules" />;
  if (domains.data === undefined)
    return <Failed error={domains.error} retry={() => void domains.refetch()} />;
  if (isGateway && file.data === undefined)
    return <Failed error={file.error} retry={() => void file.refetch()} />;
  return <Form {...props} domains={domains.data} file={file.data} />;
}

function Form({
  trajectory,
  asked,
  onRun,
  onChanged,
  onRestore,
  domains,
  file,
}: FormProps & {
  readonly domains: readonly Domain[];
  /** The rules in force as a rules file, in a world of the gateway. */
  readonly file: string | undefined;
}) {
  const [search] = useSearchParams();
  const isFile = file !== undefined;
  const example =
    file ?? exampleRules(recordedDomain(domains, trajectory)?.actions[0]?.name ?? '**');
  const choices = choicesOf(search);
  const {
    text: rules,
    edit: setRules,
    keep,
  } = useEditedRules(trajectory.trajectory_id, example, choices.table, isFile);
  const { tries, domain, from, to } = choices;
  const next = askedBy(trajectory.trajectory_id, choices, rules, isFile);
  const [, choose] = useChoices();
  const table = tries === 'rules' ? tableAddressOf(rules, example, isFile) : undefined;
  const run = () => {
    if (!('body' in next)) return;
    if (tries === 'rules') keep(table);
    onRun(next.body, table);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: an address with a result shows it once
  useEffect(() => {
    // The table of the address is run, and not a draft of this tab.
    const ran =
      choices.table === null
        ? example
        : (tableOf(choices.table, isFile) ?? (table === choices.table ? rules : ''));
    const shown = askedBy(trajectory.trajectory_id, choices, ran, isFile);
    if (search.has('run') && 'body' in shown) onRestore(shown.body);
  }, []);
  const hasNoVersion = tries === 'domain' && otherVersions(domains, trajectory).length === 0;
  const isChanged =
    asked !== undefined && !('body' in next && JSON.stringify(asked) === JSON.stringify(next.body));
  useEffect(() => onChanged(isChanged), [isChanged, onChanged]);
  return (
    <Stack
      gap="sm"
      mt="sm"
      component="form"
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <Group grow gap="sm" align="flex-start">
        <SeqField
          label="From entry"
          placeholder="first"
          value={from}
          onChange={(seq) => choose({ from: seq })}
        />
        <SeqField
          label="To entry"
          placeholder="last"
          value={to}
          onChange={(seq) => choose({ to: seq })}
        />
      </Group>
      {tries === 'rules' ? (
        <RulesField
          value={rules}
          begun={example}
          isFile={isFile}
          onChange={setRules}
          onRun={run}
          onReset={rules === example ? undefined : () => setRules(example)}
        />
      ) : (
        <VersionField
          domains={domains}
          trajectory={trajectory}
          value={domain}
          onChange={(hash) => choose({ domain: hash })}
        />
      )}
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed" role="status">
          {hasNoVersion
            ? ''
            : 'lacks' in next
              ? next.lacks
              : isChanged
                ? 'Changed since the shown result.'
                : ''}
        </Text>
        <Button type="submit" size="xs" disabled={'lacks' in next}>
          Run the backtest
        </Button>
      </Group>
    </Stack>
  );
}

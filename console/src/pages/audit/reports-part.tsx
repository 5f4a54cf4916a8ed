import { emptyText } from '@assize/audit/internal/compliance/render/words.ts';
import { Button, Group, Select, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { visible } from 'assize/internal/views/visible.ts';
import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { useAllTrajectories } from '../../api/trajectories-query.ts';
import { counted } from '../../parts/counted.ts';
import { InstantInput } from '../../parts/instant-input.tsx';
import { Section } from '../../parts/section.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import classes from './audit-page.module.css';
import { isBackwards } from './bundle-address.ts';
import { type ComplianceReport, pageHref, type ReportScope } from './report-scope.ts';
import { ReportedClause } from './reported-clause.tsx';

/** Makes a report on request: the evidence for clauses of laws and standards, and the gaps. */
export function ReportsPart() {
  const [scope, setScope] = useState<ReportScope>({});
  const made = useMutation({ mutationFn: make });
  const { data = [] } = useAllTrajectories();
  const isWrong = isBackwards({ from: scope.since ?? '', to: scope.until ?? '' });
  const change = (next: ReportScope): void => setScope({ ...scope, ...next });
  return (
    <Section
      title="Reports"
      about="Evidence of the ledger for laws and standards, and the gaps. No legal advice, and no certification."
      actions={
        <Button
          size="xs"
          disabled={isWrong}
          loading={made.isPending}
          onClick={() => made.mutate(scope)}
        >
          Make the report
        </Button>
      }
    >
      <div className={classes.fields}>
        <InstantInput
          label="Report from (optional, UTC)"
          instant={scope.since}
          onChange={(since) => change({ since })}
        />
        <InstantInput
          label="Report until (optional, UTC)"
          instant={scope.until}
          error={isWrong ? 'Give a time after “from”.' : undefined}
          onChange={(until) => change({ until })}
        />
        <Select
          size="xs"
          label="World of the report (optional)"
          placeholder="All"
          searchable
          clearable
          nothingFoundMessage="Nothing matches."
          clearButtonProps={{ 'aria-label': 'Report on all worlds' }}
          data={data.map(({ trajectory_id: name }) => ({ value: name, label: visible(name) }))}
          value={scope.trajectory ?? null}
          onChange={(trajectory) => change({ trajectory: trajectory ?? undefined })}
        />
      </div>
      {made.isPending && <Loading what="the report" />}
      {made.error !== null && <Failed error={made.error} />}
      {made.data !== undefined && <Shown report={made.data} scope={made.variables ?? {}} />}
    </Section>
  );
}

function make(scope: ReportScope): Promise<ComplianceReport> {
  const query = Object.fromEntries(
    Object.entries(scope).filter(([, value]) => value !== undefined),
  );
  return dataOf(
    api.GET('/v1/reports/{framework}', { params: { path: { framework: 'all' }, query } }),
  );
}

function Shown({
  report,
  scope,
}: {
  readonly report: ComplianceReport;
  readonly scope: ReportScope;
}) {
  const { frameworks, gaps, log, valid } = report;
  const empty = emptyText(report);
  const [chosen, setChosen] = useState<string | null>(null);
  const framework = frameworks.find(({ id }) => id === chosen) ?? frameworks[0];
  return (
    <>
      {empty !== undefined && (
        <Text size="sm" fw={600}>
          {empty}
        </Text>
      )}
      <Text size="sm" fw={600} role="status">
        {counted(log.size, 'entry', 'entries')} of the log: {counted(gaps, 'clause', 'clauses')}{' '}
        with a gap
        {!valid && ', and the ledger has faults'}
      </Text>
      <Group gap="sm" align="flex-end" my={6}>
        <Select
          size="xs"
          label="Law or standard"
          allowDeselect={false}
          className={classes.framework}
          data={frameworks.map(({ id, title }) => ({ value: id, label: title }))}
          value={framework?.id ?? null}
          onChange={setChosen}
        />
        {framework !== undefined && (
          <Button
            size="xs"
            variant="default"
            component="a"
            href={pageHref(framework.id, scope, log.size)}
            download={`${framework.id}.html`}
          >
            Download as HTML
          </Button>
        )}
      </Group>
      <ul className={classes.rows} aria-label="Clauses">
        {framework?.clauses.map((clause) => (
          <ReportedClause key={clause.id} clause={clause} />
        ))}
      </ul>
    </>
  );
}

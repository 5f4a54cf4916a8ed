import { Text, Title } from '@mantine/core';
import { useLocation, useSearchParams } from 'wouter';
import { useMe } from '../../api/queries.ts';
import { Section } from '../../parts/section.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { BlastResult } from './blast-result.tsx';
import classes from './incidents-page.module.css';
import { useBlast } from './incidents-query.ts';
import { ProposeResponse } from './propose-response.tsx';
import { Responses } from './responses.tsx';
import { incidentsHref, type Start, startOf } from './start-address.ts';
import { StartForm } from './start-form.tsx';

/** All that derives from a bad entry, key, principal or tool, and the response to it. */
export default function IncidentsPage() {
  const kinds = useMe().data?.kinds ?? [];
  const isAdmin = kinds.includes('admin');
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const start = startOf(search);
  return (
    <div className={classes.page}>
      <Title order={1} size="h4">
        Incidents
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        The blast radius: all that derives from a bad entry, credential, approver, tool or source.
      </Text>
      {isAdmin || kinds.includes('auditor') ? (
        <>
          <StartForm
            key={search.toString()}
            start={start}
            onFind={(next) => navigate(incidentsHref(next))}
          />
          {start !== undefined && <Found start={start} mayPropose={isAdmin} />}
        </>
      ) : (
        <Text size="sm">Auditors and administrators search the ledger.</Text>
      )}
      <Section
        title="Responses"
        about="Proposed, or approved by a person and carried out by the server."
      >
        <Responses />
      </Section>
    </div>
  );
}

function Found({ start, mayPropose }: { readonly start: Start; readonly mayPropose: boolean }) {
  const found = useBlast(start);
  if (found.isPending) return <Loading what="the entries that derive from it" />;
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  return (
    <>
      <BlastResult blast={found.data} start={start} />
      {found.data.affected > 0 && (
        <Section
          title="Response"
          about="Revokes, withdraws and halts by one proposal. The rest stays listed."
        >
          {mayPropose ? (
            <ProposeResponse start={start} />
          ) : (
            <Text size="sm">Administrators propose responses.</Text>
          )}
        </Section>
      )}
    </>
  );
}

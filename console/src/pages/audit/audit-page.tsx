import { Anchor, Button, Group, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { useMe } from '../../api/queries.ts';
import { Section } from '../../parts/section.tsx';
import classes from './audit-page.module.css';
import { BundlePart } from './bundle-part.tsx';
import { CheckpointPart } from './checkpoint-part.tsx';
import { FailedNotices } from './failed-notices.tsx';
import { ReportsPart } from './reports-part.tsx';
import { VerificationPart } from './verification-part.tsx';

/** The evidence about the ledger as a whole, and what the server could not finish. */
export default function AuditPage() {
  const kinds = useMe().data?.kinds ?? [];
  const isAdmin = kinds.includes('admin');
  const seesAll = isAdmin || kinds.includes('auditor');
  return (
    <div className={classes.page}>
      <Title order={1} size="h4" mb="md">
        Audit
      </Title>
      <CheckpointPart maySign={seesAll} />
      <VerificationPart />
      <BundlePart seesAll={seesAll} />
      {seesAll ? (
        <ReportsPart />
      ) : (
        <Section
          title="Reports"
          about="Evidence of the ledger for laws and standards, and the gaps."
        >
          <OnlyFor what="make reports" />
        </Section>
      )}
      <Section title="Export" about="Every entry and value as JSON Lines, in the order of the log.">
        {seesAll ? (
          <Group gap="sm">
            <Button
              size="xs"
              variant="default"
              component="a"
              href="/v1/export"
              download="ledger.jsonl"
            >
              Download the ledger
            </Button>
            <Text size="sm" c="dimmed">
              <code>assize import</code> reads the file into another store, and verifies it.
            </Text>
          </Group>
        ) : (
          <OnlyFor what="export the ledger" />
        )}
      </Section>
      <Section
        title="Incidents"
        about="All that derives from a bad key, tool, message or entry, and the response."
      >
        <Anchor component={Link} href="/incidents" size="sm" underline="always">
          Find what derives from a bad entry
        </Anchor>
      </Section>
      <Section
        title="Failed notices"
        about="Messages to people and systems that were given up after their last attempt."
      >
        {seesAll ? <FailedNotices mayRetry={isAdmin} /> : <OnlyFor what="see failed notices" />}
      </Section>
    </div>
  );
}

function OnlyFor({ what }: { readonly what: string }) {
  return <Text size="sm">Auditors and administrators {what}.</Text>;
}

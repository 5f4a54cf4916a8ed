import { Anchor, Button, Group, List, Stack, Title } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { At } from '../../parts/instant.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { periodText } from '../../parts/times.ts';
import { incidentsHref } from '../incidents/start-address.ts';
import { STANDINGS } from './bitemporal-plot.tsx';
import { ContradictionText } from './contradiction-text.tsx';
import { Dependents } from './dependents.tsx';
import classes from './memory-page.module.css';
import { type Place, useExplained } from './memory-queries.ts';
import type { Version } from './versions.ts';
import { ObjectText, recordedText } from './versions-table.tsx';

interface DetailProps {
  readonly place: Place;
  readonly version: Version;
  readonly isDerivedShown: boolean;
  readonly derivedHref: (isShown: boolean) => string;
  readonly closeHref: string;
}

/** The height in pixels that shows what a version is about. */
const BEGINNING = 160;

/** A version: what it says, why it won or lost, what it rests on and what rests on it. */
export function VersionDetail({
  place,
  version,
  isDerivedShown,
  derivedHref,
  closeHref,
}: DetailProps) {
  const explained = useExplained(place, version.fact);
  const { fact, standing } = version;
  const section = useRef<HTMLElement>(null);
  const isShown = explained.data !== undefined;
  useEffect(() => {
    const { top = 0 } = section.current?.getBoundingClientRect() ?? {};
    if (isShown && (top < 0 || top > innerHeight - BEGINNING)) section.current?.scrollIntoView();
  }, [isShown]);
  return (
    <section ref={section} className={classes.version} aria-label="Chosen version">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Title order={3} size="h5" className="wraps">
          <ObjectText version={version} />
        </Title>
        <Button component={Link} href={closeHref} size="compact-xs" variant="default">
          Close
        </Button>
      </Group>
      <Facts>
        <Fact name="Standing">{STANDINGS[standing]}</Fact>
        <Fact name="True">{periodText(fact.valid_from, fact.valid_to)}</Fact>
        <Fact name="Recorded">{recordedText(version)}</Fact>
        <Fact name="Confidence">{fact.confidence}</Fact>
        <Fact name="Claim">
          <code className="wraps" title={fact.lineage}>
            {fact.lineage.slice(0, 12)}…
          </code>
        </Fact>
      </Facts>
      {explained.data === undefined ? (
        explained.error === null ? (
          <Loading what="its origin" />
        ) : (
          <Failed error={explained.error} retry={() => void explained.refetch()} />
        )
      ) : (
        <Origin of={explained.data} claim={fact.lineage} />
      )}
      <Part title="Derived entries">
        {isDerivedShown ? (
          <Dependents entry={fact.entry_id} />
        ) : (
          <Button
            component={Link}
            href={derivedHref(true)}
            size="compact-sm"
            variant="default"
            w="max-content"
          >
            Find what derives from this
          </Button>
        )}
      </Part>
    </section>
  );
}

function Origin({
  of: { contradictions, sources, trust, entries },
  claim,
}: {
  readonly of: NonNullable<ReturnType<typeof useExplained>['data']>;
  readonly claim: string;
}) {
  return (
    <>
      <Part
        title={
          contradictions.length === 0 ? 'It met no contradiction' : 'Contradictions of its claim'
        }
      >
        {contradictions.map((each) => (
          <ContradictionText key={each.fact.fact_id} of={each} claim={claim} entries={entries} />
        ))}
      </Part>
      <Part title="Where it comes from">
        <List size="sm" spacing={2}>
          {sources.map(({ entry, n, source, metadata = {} }) => (
            <List.Item key={`${entry} ${n}`}>
              Statement {n + 1} of{' '}
              <EntryLink id={entry} place={entries.find(({ id }) => id === entry)} />
              {source !== undefined && (
                <>
                  , from the source{' '}
                  <Anchor
                    component={Link}
                    href={incidentsHref({ source })}
                    size="sm"
                    underline="always"
                  >
                    <Inert>{source}</Inert>
                  </Anchor>
                </>
              )}
              {Object.entries(metadata).map(([name, value]) => (
                <span key={name}>
                  , <Inert>{name}</Inert>: <Inert>{String(value)}</Inert>
                </span>
              ))}
            </List.Item>
          ))}
          {trust.map(({ kind, name }) => (
            <List.Item key={`${kind} ${name}`}>
              {TRUSTED[kind] ?? kind} <Inert>{name}</Inert>
            </List.Item>
          ))}
        </List>
      </Part>
      <Part title="Its entries">
        <List size="sm" spacing={2}>
          {entries.map((entry) => (
            <List.Item key={entry.id}>
              <EntryLink id={entry.id} place={entry} />: <Inert>{entry.action}</Inert>,{' '}
              <At at={entry.at} />
            </List.Item>
          ))}
        </List>
      </Part>
    </>
  );
}

const TRUSTED: Readonly<Record<string, string>> = {
  approver: 'Chosen by the approver',
  judge: 'Chosen by the vote of the judge',
  policy: 'Chosen under the policy',
};

function Part({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <Stack gap={4} mt="sm">
      <Title order={4} size="h6">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

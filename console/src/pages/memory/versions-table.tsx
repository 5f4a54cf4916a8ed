import { Anchor, Table } from '@mantine/core';
import { Link } from 'wouter';
import { Inert } from '../../parts/inert-text.tsx';
import { localInstant, periodText } from '../../parts/times.ts';
import { STANDINGS } from './bitemporal-plot.tsx';
import classes from './memory-page.module.css';
import type { Version } from './versions.ts';

interface TableProps {
  readonly versions: readonly Version[];
  readonly openName: string | undefined;
  readonly hrefOf: (version: Version) => string;
}

/** The content of the plot as a table. */
export function VersionsTable({ versions, openName, hrefOf }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table
    <section className={classes.scroll} aria-label="Versions" tabIndex={0}>
      <Table fz="sm" verticalSpacing={4} className={classes.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Object</Table.Th>
            <Table.Th>Standing</Table.Th>
            <Table.Th>True</Table.Th>
            <Table.Th>Recorded</Table.Th>
            <Table.Th ta="right">Confidence</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {versions.map((version) => (
            <Table.Tr
              key={version.name}
              data-open={version.name === openName || undefined}
              data-standing={version.standing}
            >
              <Table.Td>
                <Anchor
                  component={Link}
                  href={hrefOf(version)}
                  fz="sm"
                  aria-current={version.name === openName ? 'true' : undefined}
                >
                  <ObjectText version={version} />
                </Anchor>
              </Table.Td>
              <Table.Td>{STANDINGS[version.standing]}</Table.Td>
              <Table.Td>{periodText(version.fact.valid_from, version.fact.valid_to)}</Table.Td>
              <Table.Td>{recordedText(version)}</Table.Td>
              <Table.Td ta="right">{version.fact.confidence}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

/** The object of a version, or the word for an erased one. */
export function ObjectText({ version }: { readonly version: Version }) {
  return version.object === undefined ? <em>erased</em> : <Inert>{version.object}</Inert>;
}

/** The time in which a version was held, or the instant of its refusal. */
export function recordedText({ standing, fact }: Version): string {
  const { system_time_start, system_time_end } = fact;
  if (standing === 'refused') return `at ${localInstant(system_time_start)}`;
  return periodText(system_time_start, system_time_end, localInstant);
}

import { Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Inert } from '../../parts/inert-text.tsx';
import classes from './simulation.module.css';
import { type FigureRow, figuresOf } from './simulation-figures.ts';
import type { SimulatedVariant, Simulation } from './use-simulation.ts';

const OUTCOMES: Readonly<Record<string, string>> = {
  done: 'Done',
  waits: 'Waits for a decision',
  stuck: 'Stuck',
  limit: 'Reached the limit',
  no_answer: 'A call has no answer',
  failed: 'Failed',
};

/** The record and the variants side by side. A figure other than that of the record is bold. */
export function SimulationTable({ simulation }: { readonly simulation: Simulation }) {
  const { variants, recorded } = simulation;
  const { figures, rules } = figuresOf(simulation);
  return (
    <section aria-label="Side by side">
      <Title order={3} size="h6" mb={4}>
        Side by side{' '}
        <Text span size="sm" c="dimmed" fw={400}>
          {samplesText(variants)}bold: other than the record
        </Text>
      </Title>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table */}
      <div className={classes.scroll} tabIndex={0}>
        <Table fz="sm" verticalSpacing={5} className={classes.table}>
          <Table.Thead>
            <Table.Tr>
              <Table.Td className={classes.label} />
              <Table.Th scope="col">The record</Table.Th>
              {variants.map(({ name }) => (
                <Table.Th key={name} scope="col">
                  <Inert>{name}</Inert>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            <Table.Tr>
              <Label>Outcome</Label>
              <Table.Td />
              {variants.map((variant) => (
                <Table.Td key={variant.name}>
                  <Outcomes variant={variant} />
                </Table.Td>
              ))}
            </Table.Tr>
            {figures.map((row) => (
              <Figures key={row.label} row={row} variants={variants} />
            ))}
            <Table.Tr>
              <Label>Spent</Label>
              <Table.Td>{spentText(recorded.spent)}</Table.Td>
              {variants.map(({ name, medians }) => (
                <Table.Td key={name}>{spentText(medians.spent)}</Table.Td>
              ))}
            </Table.Tr>
          </Table.Tbody>
          {rules.length > 0 && (
            <Table.Tbody>
              <Table.Tr>
                <Table.Th
                  scope="rowgroup"
                  className={classes.label}
                  fw={700}
                  colSpan={variants.length + 2}
                >
                  Rules met
                </Table.Th>
              </Table.Tr>
              {rules.map((row) => (
                <Figures key={row.label} row={row} variants={variants} isRule />
              ))}
            </Table.Tbody>
          )}
        </Table>
      </div>
    </section>
  );
}

/** How the samples of a variant become one column. */
function samplesText(variants: readonly SimulatedVariant[]): string {
  return variants.some(({ samples }) => samples.length > 1)
    ? 'medians of all samples, also of failed ones; '
    : '';
}

/** `3 calls, 200 cents`. */
function spentText(spent: SimulatedVariant['spent']): string {
  const parts = Object.entries(spent).map(([unit, amount]) => `${amount} ${unit}`);
  return parts.length === 0 ? '0' : parts.join(', ');
}

interface FiguresProps {
  readonly row: FigureRow;
  readonly variants: readonly SimulatedVariant[];
  readonly isRule?: true;
}

function Figures({ row: { label, record, values }, variants, isRule }: FiguresProps) {
  return (
    <Table.Tr>
      <Label>{isRule === true ? <Inert>{label}</Inert> : label}</Label>
      <Table.Td>{record}</Table.Td>
      {values.map((value, n) => (
        <Table.Td
          key={variants[n]?.name}
          fw={record !== undefined && value !== record ? 700 : undefined}
        >
          {value}
        </Table.Td>
      ))}
    </Table.Tr>
  );
}

function Label({ children }: { readonly children: ReactNode }) {
  return (
    <Table.Th scope="row" className={classes.label}>
      {children}
    </Table.Th>
  );
}

function Outcomes({ variant: { outcomes, samples } }: { readonly variant: SimulatedVariant }) {
  const ended = Object.entries(outcomes).filter(([, count]) => count > 0);
  return ended.map(([outcome, count]) => (
    <div key={outcome}>
      {samples.length > 1 && `${count} × `}
      {OUTCOMES[outcome] ?? outcome}
    </div>
  ));
}

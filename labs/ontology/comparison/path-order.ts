import { Footprints } from '../footprints.ts';
import type { Ontology, ProcessClass } from '../ontology.ts';
import { earlier } from '../order.ts';

/**
 * All processes in an order that keeps the declared one. Between processes without a declared
 * order, the order of a run decides. Without a run, a process goes first if it reads nothing that
 * another one has yet to write; then the order of the file decides.
 */
export function pathOrder(ontology: Ontology, run: readonly string[]): ProcessClass[] {
  const before = earlier(ontology);
  const footprints = new Footprints(ontology);
  const waitsFor = (one: ProcessClass, other: ProcessClass): boolean =>
    one !== other && before.get(one.term)?.has(other.term) === true;
  const usesOf = (one: ProcessClass, other: ProcessClass): boolean =>
    one !== other &&
    !waitsFor(other, one) &&
    footprints.meeting(one.reads, other.writes).length > 0;
  const ordered: ProcessClass[] = [];
  let left = [...ontology.processes];
  while (left.length > 0) {
    const free = left.filter((one) => !left.some((other) => waitsFor(one, other)));
    // Processes that wait for each other have no first one: the order of the file decides.
    const ready = free.length > 0 ? free : left;
    const performed = run
      .map((name) => ready.find(({ process }) => process === name))
      .find((one) => one !== undefined);
    const unread = ready.find((one) => !left.some((other) => usesOf(one, other)));
    const next = performed ?? unread ?? (ready[0] as ProcessClass);
    ordered.push(next);
    left = left.filter((one) => one !== next);
  }
  return ordered;
}

/** Where a run has two processes in another order than the ontology declares. */
export function contradictions(ontology: Ontology, run: readonly string[]): string[] {
  const before = earlier(ontology);
  const termOf = new Map(ontology.processes.map(({ process, term }) => [process, term]));
  return run.flatMap((process, i) =>
    run
      .slice(i + 1)
      .filter((later) => before.get(termOf.get(process) ?? '')?.has(termOf.get(later) ?? ''))
      .map((later) => `${process} took place before ${later}, which the ontology puts before it`),
  );
}

import { type Domain, defineDomain, escalate, pass } from 'assize';
import { z } from 'zod';
import type { Ontology } from '../ontology.ts';
import { parse } from '../parse.ts';

/** A process that happens once to a paper. */
export interface PaperProcess {
  readonly name: string;
  readonly after: readonly string[];
  /** Only an editor lets it pass. */
  readonly isAsked: boolean;
}

/** The ontology of a paper, with a component, a role and a process for each of the processes. */
export function paperOntology(processes: readonly PaperProcess[]): Ontology {
  const classOf = ({ name, after, isAsked }: PaperProcess, i: number): string => `
:C${name} rdfs:subClassOf obo:BFO_0000019 ; obo:RO_0000052 :Paper ; a:path "/${name}" ; ${said(name)} .
:P${name} rdfs:subClassOf obo:BFO_0000015 ; obo:RO_0000057 :Paper ; a:process "${name}" ; a:writes :C${name} ; ${said(name)} .
${after.map((one) => `:P${name} a:after :P${one} .`).join('\n')}
:R${name} rdfs:subClassOf obo:BFO_0000023, a:WorkerRole ; a:role "R${name}" ; obo:BFO_0000054 :P${name} ; ${said(name)} .
:U${name} rdfs:subClassOf obo:IAO_0000033 ; a:rule "U${name}" ; a:order ${i + 1} ; a:refersTo :C${name} ;
  a:onFailure ${isAsked ? '"escalate" ; a:counselor "editor"' : '"reject"'} ; dct:source "x" ; ${said(name)} .`;
  return parse(`@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix a: <urn:assize:ontology#> .
@prefix : <urn:paper#> .
<urn:paper> a owl:Ontology ; dct:title "Paper" ; a:domain "paper" .
:Paper a a:PrimaryContinuant ; rdfs:subClassOf obo:BFO_0000040 ; ${said('paper')} .
${processes.map(classOf).join('\n')}`);
}

/**
 * The domain of the same processes. A process throws until those before it have happened. 1: it
 * happened; 2: with an editor's approval.
 */
export function paperDomain(processes: readonly PaperProcess[]): Domain {
  const initial = Object.fromEntries(processes.map(({ name }) => [name, 0]));
  return defineDomain<any, any>({
    name: 'paper',
    version: '1',
    state: z.object(Object.fromEntries(processes.map(({ name }) => [name, z.number()]))),
    initial,
    processes: Object.fromEntries(
      processes.map(({ name, after }) => [
        name,
        { reads: after.map((one) => `/${one}`), writes: [`/${name}`] },
      ]),
    ),
    roles: Object.fromEntries(processes.map(({ name }) => [`R${name}`, { processes: [name] }])),
    actions: Object.fromEntries(processes.map((one) => [`do_${one.name}`, actionOf(one)])),
    counselors: { editor: (principal: string) => principal.startsWith('editor:') },
    invariants: ({ invariant }) =>
      processes
        .filter(({ isAsked }) => isAsked)
        .map(({ name }) =>
          invariant(
            `U${name}`,
            [`/${name}`],
            (state) => (state[name] === 1 ? escalate('an editor decides') : pass),
            {
              channel: 'editor',
              onApprove: (state) => {
                state[name] = 2;
              },
            },
          ),
        ),
  }) as Domain;
}

function actionOf({ name, after }: PaperProcess) {
  return {
    process: name,
    description: name,
    args: z.object({}),
    apply: (state: Record<string, number>) => {
      const missing = after.find((one) => state[one] === 0);
      if (missing !== undefined) throw new Error(`${missing} comes first`);
      if (state[name] !== 0) throw new Error(`${name} happened already`);
      state[name] = 1;
    },
  };
}

function said(name: string): string {
  return `rdfs:label "${name}" ; skos:definition "x"`;
}

/**
 * The instructions of a model before the prose: the vocabulary of an ontology, and the method (seed
 * 000, §2).
 */
export const INSTRUCTIONS = `Write down the domain that is described below as an ontology in Turtle, grounded in BFO. Answer with
the Turtle text and nothing else.

Prefixes, all of them, with NAME replaced by a short name in small letters:

@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl:  <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct:  <http://purl.org/dc/terms/> .
@prefix obo:  <http://purl.obolibrary.org/obo/> .
@prefix a:    <urn:assize:ontology#> .
@prefix :     <urn:assize:domain:NAME#> .

<urn:assize:domain:NAME> a owl:Ontology ; dct:title "…" ; dct:description "…" ; dct:source "…" ; a:domain "NAME" .

Everything else is a class: \`:Name a owl:Class\`, with rdfs:subClassOf, rdfs:label and skos:definition (its genus and what sets it
apart, one sentence). Relations are written on classes directly.

1. Independent continuants: rdfs:subClassOf obo:BFO_0000040 (material entity) or obo:BFO_0000027 (object aggregate). Exactly one, to
   which the processes happen, is also \`a a:PrimaryContinuant\`.
2. Components of the state: rdfs:subClassOf obo:BFO_0000019 (quality) or obo:BFO_0000023 (role), with obo:RO_0000052 (inheres in) a
   continuant; or obo:IAO_0000030 (information), with obo:IAO_0000136 (is about) one. Each has a:path, where it stands in the state:
   a JSON pointer with {param} for whom it is about and * for any key, such as "/loans/{member}"; a list that only grows ends in /-.
   Phases that the continuant goes through are roles of it and stand here. A time that governs, such as a deadline, is also
   rdfs:subClassOf a:TimedComponent.
3. Processes: rdfs:subClassOf obo:BFO_0000015 ; obo:RO_0000057 (has participant) a continuant ; a:process "name" ; a:reads and a:writes
   the components that it reads and writes, all of them and no other ; a:after the processes that always come before.
4. Workers' roles, one for each group of processes whose components substantially overlap: rdfs:subClassOf obo:BFO_0000023,
   a:WorkerRole ; a:role "Name" ; obo:BFO_0000054 one of the processes. Where policy keeps two processes apart whose components
   overlap, the one has a:apartFrom the other, where it puts two together, a:togetherWith; each with a class that is
   rdfs:subClassOf obo:IAO_0000033 and obo:IAO_0000136 (is about) both, which says why.
5. Rules: rdfs:subClassOf obo:IAO_0000033 (directive) ; a:rule "ID_IN_CAPITALS" ; a:order 1, 2, 3 … ; a:refersTo the components that it
   reads ; dct:source where it comes from. A rule that judges one member at a time has a:forEach "member", with the name in braces of the
   path; without it the rule compares all members. Where a person decides instead of a refusal: a:onFailure "escalate" ; a:counselor "kind".
   Those come last.
6. What must hold before a process is a rule too, which the process names with a:precondition; the rule has a:after the processes that
   must have happened, and a:notBefore the time that it waits for; it refers to what those write and the waiting process touches.
7. If everything that is done must be reported: a class that is rdfs:subClassOf obo:IAO_0000033, a:AuditRequirement ; obo:IAO_0000136
   every process, or the continuants that take part in them.

Use no other terms of a:, and name nothing that you do not describe.`;

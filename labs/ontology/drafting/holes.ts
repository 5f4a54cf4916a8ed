import { type DerivedInvariant, invariantsOf } from '../invariants.ts';
import { moduleSource } from '../module-source.ts';
import type { Ontology } from '../ontology.ts';
import { type DerivedRole, deriveRoles } from '../roles.ts';
import { unwrittenParts } from '../scaffold.ts';

/** The parts of a scaffold that are to be written. */
export interface Holes {
  /** Places of the state without a schema: `/funds`, `/limits/*`. */
  readonly places: readonly string[];
  readonly processes: readonly [string, ...string[]];
  readonly invariants: readonly { readonly id: string; readonly escalates: boolean }[];
}

/** An ontology with its derivations and the module of its scaffold. */
export interface Derived {
  readonly ontology: Ontology;
  readonly roles: readonly DerivedRole[];
  readonly invariants: readonly DerivedInvariant[];
  readonly holes: Holes;
  readonly scaffold: string;
}

/** @throws OntologyError `unsound`; ArgumentError `bad_argument` */
export function derive(ontology: Ontology): Derived {
  const derived = deriveRoles(ontology);
  const { roles } = derived;
  const invariants = invariantsOf(ontology, derived);
  const parts = unwrittenParts(ontology);
  const places: string[] = [];
  const scaffold = moduleSource(ontology, roles, invariants, {
    ...parts,
    schemaAt: (place) => {
      places.push(place);
      return parts.schemaAt(place);
    },
  });
  const holes: Holes = {
    places,
    processes: ontology.processes.map(({ process }) => process) as [string, ...string[]],
    invariants: invariants.map(({ id, onFailure }) => ({
      id,
      escalates: onFailure === 'escalate',
    })),
  };
  return { ontology, roles, invariants, holes, scaffold };
}

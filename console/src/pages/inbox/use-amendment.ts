import { useEffect, useState } from 'react';
import { argsSchemaOf, useDomainOf } from '../../api/domain-query.ts';
import type { Approval } from '../../api/queries.ts';
import { useChoices } from '../../parts/address-choices.ts';
import { isSameJson } from '../../parts/schema-form/same-json.ts';
import type { Schema } from '../../parts/schema-form/schema.ts';
import type { FormView } from '../../parts/schema-form/schema-form.tsx';

/** The arguments that the approver writes instead of the proposed ones. */
export interface Amendment {
  /** Undefined while the proposal is not amended. */
  readonly view: FormView | undefined;
  readonly args: unknown;
  /** Whether the arguments are other ones than those of the proposal. */
  readonly isChanged: boolean;
  /** Undefined until it is loaded. */
  readonly schema: Schema | undefined;
  readonly set: (args: unknown) => void;
  /** Shows the form, or the JSON; undefined drops the amendment. */
  readonly show: (view: FormView | undefined) => void;
}

/**
 * The view is in the address. The arguments begin as those of the proposal. An address with a view
 * is of a draft that is lost, so its form is closed.
 */
export function useAmendment({ action, trajectory_id }: Approval): Amendment {
  const [search, choose] = useChoices();
  const asked = search.get('amend');
  const [isBegun, setBegun] = useState(false);
  const view = isBegun && (asked === 'form' || asked === 'json') ? asked : undefined;
  const [written, setWritten] = useState<{ readonly args: unknown }>();
  const domain = useDomainOf(trajectory_id, view !== undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: at the first view only
  useEffect(() => {
    if (asked !== null) choose({ amend: undefined });
  }, []);
  const args = written === undefined ? action.args : written.args;
  return {
    view,
    args,
    isChanged: view !== undefined && !isSameJson(args, action.args),
    schema: domain.data && (argsSchemaOf(domain.data, action.name) ?? {}),
    set: (args) => setWritten({ args }),
    show: (next) => {
      if (next === undefined) setWritten(undefined);
      setBegun(next !== undefined);
      choose({ amend: next });
    },
  };
}

import { type ArgumentSchema, arg } from 'assize/internal/base';

const { text, whole, list, members, optional } = arg;

function orNull(form: ArgumentSchema): ArgumentSchema {
  return (value) => (value === null ? undefined : form(value));
}

const status = arg.oneOf(['shown', 'gap', 'none']);
const example = members({
  id: text,
  trajectory_id: text,
  seq: whole,
  at: text,
  note: optional(text),
});
const measure = members({
  ...{ title: text, status, figure: text, remedy: optional(text) },
  examples: optional(list(example)),
  proof: members({ command: text, api: optional(text) }),
});
const clause = members({ id: text, title: text, asks: text, status, measures: list(measure) });

/** A report of `makeReport`, or one that was read from its JSON: every member that is shown. */
export const REPORT: ArgumentSchema = members({
  note: text,
  scope: members({
    since: orNull(text),
    until: orNull(text),
    trajectories: orNull(list(text)),
    entries: whole,
  }),
  log: members({
    ...{ size: whole, root: text, as_of: orNull(text) },
    checkpoint: orNull(
      members({
        ...{ origin: text, size: whole, root: text },
        cosigned: list(members({ name: text, at: optional(text) })),
      }),
    ),
  }),
  valid: arg.flag,
  faults: list(members({ code: text, detail: text })),
  frameworks: list(members({ title: text, clauses: list(clause) })),
  gaps: whole,
});

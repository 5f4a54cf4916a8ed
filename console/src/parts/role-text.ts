interface RoleText {
  readonly name: string;
  readonly params?: Readonly<Record<string, string>> | undefined;
}

/** A role with its parameters, as the API has it: `clerk (desk: a)`. */
export function roleText({ name, params = {} }: RoleText): string {
  return withParams(
    name,
    Object.entries(params).map(([param, value]) => `${param}: ${value}`),
  );
}

/** The same for a row, where the reason needs the place: `clerk (a)`. */
export function shortRoleText({ name, params = {} }: RoleText): string {
  return withParams(name, Object.values(params));
}

function withParams(name: string, params: readonly string[]): string {
  return params.length === 0 ? name : `${name} (${params.join(', ')})`;
}

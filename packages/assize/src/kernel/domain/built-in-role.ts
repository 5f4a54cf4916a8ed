/** The role that performs built-in actions. It is not a role of a domain. */
export const BUILT_IN_ROLE: { readonly name: string; readonly params: Record<string, never> } =
  Object.freeze({
    name: 'assize',
    params: Object.freeze({}),
  });

import { arg, checkArgument } from '#base';
import { UNSEEN } from './same-principal.ts';

/** Maximum length of an approver's name, in UTF-16 units: the maximum of a writ's subject. */
const NAME_MAX = 512;

/**
 * The fault of an approver's name. Undefined if every character is visible and white space is only
 * single spaces inside. So two names that look alike do not differ in invisible characters.
 * `isSamePrincipal` covers look-alike letters and capitals.
 */
export function faultOfName(name: string): string | undefined {
  checkArgument(arg.text, name, 'name');
  if (name === '' || name.length > NAME_MAX) return `it must have 1 to ${NAME_MAX} characters`;
  // White space included: a tab is one as well.
  if (!/^\S+(?: \S+)*$/u.test(name))
    return 'its only white space must be single spaces between words';
  const unseen = UNSEEN.exec(name)?.[0].codePointAt(0);
  if (unseen === undefined) return undefined;
  return `it has U+${unseen.toString(16).toUpperCase().padStart(4, '0')}, which is not visible`;
}

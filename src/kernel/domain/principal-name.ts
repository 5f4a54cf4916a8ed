import { arg, checkArgument } from '#base';

/** Maximum length of an approver's name, in UTF-16 units: the maximum of a writ's subject. */
const NAME_MAX = 512;

/**
 * Invisible characters: controls, formats (zero-width, directions), lone surrogates, private use,
 * characters that Unicode lets a program show as nothing (variation selectors, fillers), and the
 * blank Braille pattern.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/u;
const ALL_UNSEEN = new RegExp(UNSEEN, 'gu');

/**
 * The fault of an approver's name. Undefined if every character is visible and white space is only
 * single spaces inside. So two names that look alike do not differ in invisible characters.
 * Look-alike letters and capitals are the host's concern.
 */
export function faultOfName(name: string): string | undefined {
  checkArgument(arg.text, name, 'name');
  if (name === '' || name.length > NAME_MAX) return `it must have 1 to ${NAME_MAX} characters`;
  // White space included: a tab is one as well.
  if (!/^\S+(?: \S+)*$/u.test(name)) return 'its only white space must be single spaces between words';
  const unseen = UNSEEN.exec(name)?.[0].codePointAt(0);
  if (unseen === undefined) return undefined;
  return `it has U+${unseen.toString(16).toUpperCase().padStart(4, '0')}, which is not visible`;
}

/**
 * A name for comparison: composed, without invisible characters. A writ's subject can be any text,
 * and so can names in older ledgers.
 */
export function plainName(name: string): string {
  return name.replace(ALL_UNSEEN, '').replace(/\s+/gu, ' ').trim().normalize('NFC');
}

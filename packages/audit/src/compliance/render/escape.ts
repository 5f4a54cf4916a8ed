/**
 * Characters that are invisible, or that change the direction of a text. The command line and the
 * console escape the same ones (`packages/assize/src/views/visible.ts`).
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const MARKUP: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as one line of HTML, in an element or a quoted attribute. */
export function html(text: string): string {
  return seen(text).replace(/[&<>"']/g, (char) => MARKUP[char] as string);
}

/** Text as one line of Markdown, in which no character is a mark, a link or HTML. */
export function markdown(text: string): string {
  return seen(text).replace(
    /[\\`*_[\]<>&|~@]|:(?=\/\/)|\.(?<=www\.)/gi,
    (char) => `&#${char.charCodeAt(0)};`,
  );
}

function seen(text: string): string {
  return text.replace(UNSEEN, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`);
}

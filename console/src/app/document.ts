/** The values that the server writes into the document of every page. */
function metaOf(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="assize-${name}"]`)?.content ?? '';
}

/** The nonce of the style elements that the library of components adds. */
export const styleNonce = metaOf('nonce');

/** Whether people can sign in at a provider. Otherwise a link signs in. */
export const hasProvider = metaOf('sign-in') === 'oidc';

/** Whether the start of the server printed links, as that of the tour does. */
export const hasLinksOfStart = metaOf('sign-in') === 'start';

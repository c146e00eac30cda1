const RELOADED = 'paydesk:reloaded-from'

/**
 * After a deploy the host no longer has the files that an open page loads later. Reloads that page,
 * once, where the host serves another version. Payments under way are in the journal.
 * @returns false where the host serves this version, cannot be asked, or the page was reloaded already
 */
export async function reloadForNewVersion(): Promise<boolean> {
  // The file that this code is in: each version has another name for it.
  const own = new URL(import.meta.url).pathname.split('/').at(-1) ?? ''
  try {
    const response = await fetch(new URL('./', document.baseURI), { cache: 'no-store' })
    const html = response.ok ? await response.text() : own
    if (html.includes(own) || sessionStorage.getItem(RELOADED) === own) return false
    sessionStorage.setItem(RELOADED, own)
  } catch {
    return false
  }
  location.reload()
  return true
}

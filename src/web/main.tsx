import './styles.css'
import { createRoot } from 'react-dom/client'
import { configureClient } from './api/client.ts'
import { configQuery, sessionQuery } from './api/queries.ts'
import { queryClient } from './api/query-client.ts'
import { App } from './app/App.tsx'
import { loadConfig } from './app/config.ts'
import { startLanguage } from './locales/language.ts'
import { Translated } from './locales/Translated.tsx'
import { getLocation } from './router/location.ts'
import { requestEarly, preloadPage } from './app/pages.ts'

const element = document.getElementById('root')
if (!element) throw new Error('index.html has no #root.')
const root = createRoot(element)

void start()

/** Not at the top level: chunks that are awaited here need this module to be over. */
async function start(): Promise<void> {
  const { path } = getLocation()
  preloadPage(path)
  const [result] = await Promise.all([loadConfig(), startLanguage()])
  if (result.ok) {
    configureClient(result.config.proxyUrl)
    void queryClient.prefetchQuery(configQuery)
    void queryClient.prefetchQuery(sessionQuery)
    requestEarly(path)
    root.render(<Translated render={() => <App config={result.config} />} />)
  } else {
    const { NotSetUp } = await import('./shell/NotSetUp.tsx')
    root.render(<Translated render={() => <NotSetUp problem={result.problem} />} />)
  }
}

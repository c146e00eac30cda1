import './styles.css'
import { createRoot } from 'react-dom/client'
import { configureClient } from './api/client.ts'
import { App } from './App.tsx'
import { loadConfig } from './config.ts'
import { getLocation } from './router/location.ts'
import { preloadPage } from './router/pages.ts'
import { NotSetUp } from './shell/NotSetUp.tsx'

const element = document.getElementById('root')
if (!element) throw new Error('index.html has no #root.')
const root = createRoot(element)

preloadPage(getLocation().path)
const result = await loadConfig()
if (result.ok) {
  configureClient(result.config.proxyUrl)
  root.render(<App config={result.config} />)
} else {
  root.render(<NotSetUp problem={result.problem} />)
}
